/** A package.json, as far as it says what a package needs and where it runs. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Versions by name. */
type Needs = Readonly<Record<string, string>>

/** The fields that are used. Their types are not checked but by `readPackage`. */
export interface PackageJson {
  readonly name?: string
  readonly version?: string
  readonly dependencies?: Needs
  readonly optionalDependencies?: Needs
  readonly peerDependencies?: Needs
  readonly workspaces?: readonly string[] | { readonly packages: readonly string[] }
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly gypfile?: boolean
  readonly packageManager?: string
}

/** The package.json in a folder; undefined if there is none that can be read. */
export async function readPackage(folder: string): Promise<PackageJson | undefined> {
  try {
    const read: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    return typeof read === 'object' && read !== null ? read : undefined
  } catch {
    return undefined
  }
}

/** A package that another one names. */
interface PackageNeed {
  readonly name: string
  readonly isOptional: boolean
}

/** Names of what a package needs, and whether it can do without each. */
export function needsOf(found: PackageJson): readonly PackageNeed[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = found
  const required = Object.keys(dependencies).filter((name) => !(name in optionalDependencies))
  // A missing peer is for whoever uses the package to know: many work without theirs.
  const optional = [...Object.keys(optionalDependencies), ...Object.keys(peerDependencies)]
    .filter((name) => !required.includes(name))
  return [...required.map((name) => ({ name, isOptional: false })),
    ...optional.map((name) => ({ name, isOptional: true }))]
}
