/** Packages that the settings of TypeScript extend: files are compiled with them where they run. */

import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { TreeSource } from '../archive/archive.ts'
import { packageNameOf } from './package-closure.ts'

const extending = /"extends"\s*:\s*(\[[^\]]*\]|"[^"]*")/g

/** Names of the packages, each with the folder of the file that names it. */
export async function tsconfigPackages(
  own: readonly TreeSource[],
): Promise<{ readonly folder: string; readonly name: string }[]> {
  const found = await Promise.all(own.map(async (each) => {
    if (each.kind !== 'file' || !/(^|\/)tsconfig[^/]*\.json$/.test(each.path)) return []
    const text = await readFile(each.file, 'utf8')
    const named = [...text.matchAll(extending)].flatMap(([, value]) =>
      [...value!.matchAll(/"([^"]*)"/g)].flatMap(([, name]) => packageNameOf(name!) ?? [])
    )
    return named.map((name) => ({ folder: dirname(each.file), name }))
  }))
  return found.flat()
}
