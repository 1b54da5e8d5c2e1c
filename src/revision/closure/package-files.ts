/** The files of an installed package, as they are packed. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { TreeSource } from '../archive/archive.ts'
import { sourceAt } from './own-files.ts'

/**
 * Files for debuggers and compilers only, which are not packed: a third of the starter's packages.
 */
const [notRun, notRunNorTyped] = [/\.(d\.cts|map)$/, /\.(d\.[cm]?ts|map)$/]

/** Package to pack, and the files of it that are kept. */
export interface PackageFilesOptions {
  /** Absolute. Links that lead out of it are refused. */
  readonly root: string
  /** Absolute. */
  readonly folder: string
  /** True if declarations are kept: schemas of graphs are read from the types of their code. */
  readonly isTyped: boolean
}

/**
 * All files of a package that can matter when it runs. Other packages, in the folder node_modules
 * of the package itself, are left out; deeper ones of that name are its own.
 */
export async function packageFiles(
  { root, folder, isTyped }: PackageFilesOptions,
): Promise<TreeSource[]> {
  const isLeftOut = isTyped ? notRun : notRunNorTyped
  const found: TreeSource[] = []
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (path === 'node_modules' || isLeftOut.test(entry.name)) continue
      if (entry.isDirectory()) await walk(path)
      else {
        const source = await sourceAt(root, folder, path)
        if (source) found.push(source)
      }
    }
  }
  await walk('')
  return found
}
