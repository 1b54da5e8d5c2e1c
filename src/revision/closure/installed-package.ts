/** A package.json, as far as it says what a package needs and where it runs. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { isObject } from '../../json/index.ts'

/** Versions by name. */
type Needs = Readonly<Record<string, string>>

/** The used fields of a package.json, in one form for the several that package managers accept. */
export interface PackageJson {
  readonly name?: string
  readonly version?: string
  readonly dependencies: Needs
  readonly optionalDependencies: Needs
  readonly peerDependencies: Needs
  /** Names of packages that it brings in a folder of its own. */
  readonly bundled: readonly string[]
  /** Folders of its workspace; undefined if it names none. */
  readonly workspaces?: readonly string[]
  readonly os: readonly string[]
  readonly cpu: readonly string[]
  readonly libc: readonly string[]
  readonly gypfile: boolean
  readonly packageManager?: string
}

/** The package.json in a folder; undefined if there is none that can be read. */
export async function readPackage(folder: string): Promise<PackageJson | undefined> {
  try {
    const text = await readFile(join(folder, 'package.json'), 'utf8')
    const read: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return isObject(read) ? packageOf(read) : undefined
  } catch {
    return undefined
  }
}

/**
 * Fields of a package.json. It may come from anyone: a field in a form that no package manager
 * takes counts as missing.
 */
export function packageOf(said: Readonly<Record<string, unknown>>): PackageJson {
  const { name, version, workspaces, packageManager } = said
  const bundled = said['bundleDependencies'] ?? said['bundledDependencies']
  const dependencies = needsIn(said['dependencies'])
  const folders = isObject(workspaces) ? workspaces['packages'] : workspaces
  return {
    ...typeof name === 'string' && { name },
    ...typeof version === 'string' && { version },
    ...typeof packageManager === 'string' && { packageManager },
    ...folders !== undefined && { workspaces: textsIn(folders) },
    dependencies,
    optionalDependencies: needsIn(said['optionalDependencies']),
    peerDependencies: needsIn(said['peerDependencies']),
    bundled: bundled === true ? Object.keys(dependencies) : textsIn(bundled).filter(isName),
    os: textsIn(said['os']),
    cpu: textsIn(said['cpu']),
    libc: textsIn(said['libc']),
    gypfile: said['gypfile'] === true,
  }
}

/** Texts of a list. npm takes one text for a list of one. */
function textsIn(said: unknown): string[] {
  const listed: readonly unknown[] = Array.isArray(said) ? said : [said]
  return listed.filter((each) => typeof each === 'string')
}

function needsIn(said: unknown): Needs {
  if (!isObject(said)) return {}
  return Object.fromEntries(
    Object.entries(said).flatMap(([name, version]) =>
      typeof version === 'string' && isName(name) ? [[name, version]] : []
    ),
  )
}

/** True for a package name that is safe to look for as a path. */
function isName(name: string): boolean {
  return name !== '' && !name.split(/[\\/]/).some((step) => step === '' || step.startsWith('.'))
}

/** A package that another one names. */
interface PackageNeed {
  readonly name: string
  readonly isOptional: boolean
}

/** Names of what a package needs, and whether it can do without each. */
export function needsOf(found: PackageJson): readonly PackageNeed[] {
  const { dependencies, optionalDependencies, peerDependencies, bundled } = found
  const required = Object.keys(dependencies).filter((name) => !(name in optionalDependencies))
  // Peers are optional: many packages work without theirs.
  const optional = new Set([...Object.keys(optionalDependencies), ...Object.keys(peerDependencies),
    ...bundled])
  return [...required.map((name) => ({ name, isOptional: false })),
    ...[...optional].filter((name) => !required.includes(name)).map((name) => ({ name,
      isOptional: true })
    )]
}
