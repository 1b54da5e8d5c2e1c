/** The build of this program: its version, and the commit that it was made from. */

import { readFileSync } from 'node:fs'

/** Note of a build, which `scripts/bundle.mjs` writes next to a bundle. */
export interface BuildNote {
  /** A commit, with `.dirty` if files differed from it; `no-commit` if there was no Git. */
  readonly commit: string
  /** A hash of all that the bundle was made of. */
  readonly sources: string
}

/** The folder of the source files, or of the bundle. */
const folder = new URL('../', import.meta.url)

const unbuilt: BuildNote = { commit: 'source', sources: '' }

let known: BuildNote | undefined

/** Read once: a later build of the same sources from another commit rewrites the note. */
function ownNote(): BuildNote {
  known ??= readBuildNote(folder)
  return known
}

/** Reads the note in a folder. Without one, the program runs from its source files. */
export function readBuildNote(folder: URL): BuildNote {
  try {
    return JSON.parse(readFileSync(new URL('build.json', folder), 'utf8')) as BuildNote
  } catch {
    return unbuilt
  }
}

/** The release of this program, as package.json has it: `0.1.0`. */
export function ownRelease(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/**
 * Returns the version of this program: its release and its commit, such as `0.1.0+2988e945`. The
 * commit is `no-commit` for a build without Git, and `source` for a server without a build.
 */
export function ownVersion(): string {
  return `${ownRelease()}+${ownNote().commit}`
}

/** Identifies this build, also among builds of changed files on one commit. */
export function ownBuild(note = ownNote()): string {
  return `${ownRelease()}+${note.commit} ${note.sources}`.trimEnd()
}
