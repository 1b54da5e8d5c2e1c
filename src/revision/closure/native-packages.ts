/** Checks that the native packages of a project run on its platform. */

import { readFile } from 'node:fs/promises'

import type { TreeSource } from '../archive/archive.ts'
import { RevisionError } from '../revision-error.ts'
import type { InstalledPackage } from './package-closure.ts'
import { isCodeFor, otherPlatform, runsOn } from './platform.ts'
import type { Platform } from './platform.ts'

/** A package with the files that are packed of it. */
export interface FilledPackage extends InstalledPackage {
  readonly files: readonly TreeSource[]
}

/**
 * True if there is native code among the packages, which all runs on the platform. Throws
 * `other_platform` if some does not, and `needs_compiler` if some has not been built.
 */
export async function hasNativeCode(packages: readonly FilledPackage[],
  platform: Platform): Promise<boolean> {
  const byFolder = new Map(packages.map((each) => [each.folder, each]))
  for (const each of packages) {
    const code = codeIn(each)
    const parts = [...each.needs].flatMap((folder) => byFolder.get(folder) ?? [])
    const isBuilt = code.length > 0 || parts.some((part) => codeIn(part).length > 0)
    if (needsBuilding(each) && !isBuilt) throw needsCompiler(each)
    if (!runsOn(each.about, platform)) throw otherPlatform(nameOf(each), platform)
    if (code.length > 0 && !await someRuns(code, platform))
      throw otherPlatform(nameOf(each), platform)
  }
  return packages.some((each) => codeIn(each).length > 0)
}

function codeIn({ files }: FilledPackage): string[] {
  return files.flatMap((each) =>
    each.kind === 'file' && each.path.endsWith('.node') ? [each.file] : []
  )
}

function needsBuilding({ about, files }: FilledPackage): boolean {
  return about.gypfile || files.some(({ path }) => path === 'binding.gyp')
}

/** True if one of the files runs on the platform. Many packages bring the code of all platforms. */
async function someRuns(files: readonly string[], platform: Platform): Promise<boolean> {
  for (const file of files) {
    if (isCodeFor(await readFile(file), platform)) return true
  }
  return false
}

function nameOf({ about: { name, version }, path }: InstalledPackage): string {
  return name === undefined ? path : `${name}${version ? ` ${version}` : ''}`
}

function needsCompiler(each: FilledPackage): RevisionError {
  return new RevisionError('needs_compiler', `${nameOf(each)} has to be compiled, and is not: ` +
    'install it with its scripts allowed, take a package that brings its code, or use an image.')
}
