/** Finds settings files, which no code imports and which change how a project runs. */

import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { isBelow } from './own-files.ts'

/** Names of files that say how the files beside and below them are loaded. */
const names = ['package.json', 'tsconfig.json'] as const

/**
 * The settings of these files: in their folders, and above them up to the root. Ignore files do not
 * count for them: one for the image of another part of the workspace may leave out everything.
 * `more` are further names.
 */
export async function settingsFiles(root: string, files: readonly string[],
  more: readonly string[] = []): Promise<string[]> {
  const folders = new Set(files.flatMap((file) => foldersFrom(root, dirname(file))))
  const places = [...folders].flatMap((folder) =>
    [...names, ...more].map((name) => join(folder, name))
  )
  const found = await Promise.all(
    places.map(async (place) =>
      await stat(place).then((entry) => entry.isFile(), () => false) ? [place] : []
    ),
  )
  return found.flat()
}

function foldersFrom(root: string, folder: string): string[] {
  if (!isBelow(root, folder)) return []
  return folder === root ? [root] : [folder, ...foldersFrom(root, dirname(folder))]
}
