/** Checks that the files of an open database are still in place: SQLite itself would not notice. */

import { statSync } from 'node:fs'

import { HeddleError } from '../../errors.ts'
import { journalPath } from './journal.ts'

/** Watches the file at `path` and the two beside it that hold the newest writes. */
export class FilePlace {
  readonly #path: string
  readonly #inodes: readonly (number | undefined)[]

  constructor(path: string) {
    this.#path = path
    this.#inodes = inodesOf(path)
  }

  /** Throws if one was removed or replaced: what is written to it is lost when the process ends. */
  check(): void {
    const inodes = inodesOf(this.#path)
    if (inodes.every((inode, index) => inode === this.#inodes[index])) return
    throw new HeddleError('unavailable',
      `${this.#path} was removed or replaced while it was in use. Put a backup in its place.`)
  }
}

function inodesOf(path: string): (number | undefined)[] {
  return [path, `${path}-wal`, journalPath(path)]
    .map((file) => statSync(file, { throwIfNoEntry: false })?.ino)
}
