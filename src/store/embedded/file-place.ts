/** Checks that the files of an open database are still in place: SQLite itself would not notice. */

import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { journalPath } from './journal.ts'

type Clock = Pick<Env, 'nowMs'>

/**
 * The times of files have coarse ticks. A directory that changed less than this ago may change once
 * more without a new time.
 */
const tickMs = 2_000

/**
 * Watches the file at `path` and the two beside it that hold the newest writes. As long as their
 * directory does not change, they stay where they are. To look at it alone is quicker, and leaves
 * the files alone: after every look at a file, the next write to it must store a new time for it.
 */
export class FilePlace {
  readonly #path: string
  readonly #clock: Clock | undefined
  readonly #files: readonly (number | undefined)[]
  /** As it was when the files were last looked for; undefined if it had just changed. */
  #directory: Stats | undefined

  /** Without a clock, the files are looked at each time. */
  constructor(path: string, clock?: Clock) {
    this.#path = path
    this.#clock = clock
    this.#files = inodesOf(path)
  }

  /** Throws if one was removed or replaced: what is written to it is lost when the process ends. */
  check(): void {
    // Before the files: if one goes in between, the directory has changed for the next look.
    const directory = this.#clock && statOf(dirname(this.#path))
    if (isSame(directory, this.#directory)) return
    const files = inodesOf(this.#path)
    if (files.some((inode, index) => inode !== this.#files[index])) {
      throw new HeddleError('unavailable',
        `${this.#path} was removed or replaced while it was in use. Put a backup in its place.`)
    }
    const unchangedMs = directory ? this.#clock!.nowMs() - directory.ctimeMs : 0
    this.#directory = unchangedMs > tickMs ? directory : undefined
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.ctimeMs === other.ctimeMs
}

function inodesOf(path: string): (number | undefined)[] {
  return [path, `${path}-wal`, journalPath(path)].map((file) => statOf(file)?.ino)
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
