/** Checks that the files of an open database are still in place: SQLite itself would not notice. */

import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname } from 'node:path'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { writeAheadPath } from './write-ahead-file.ts'

/** A file or directory, as far as it matters here. */
export type Seen = Pick<Stats, 'ino' | 'ctimeMs'>

export interface FileIdentityOptions {
  /** Without one, the files are looked at each time: what a clock says is not relied on. */
  readonly clock?: Pick<Env, 'nowMs'>
  /** Undefined if nothing is there. */
  readonly look?: (path: string) => Seen | undefined
}

/**
 * The times of files have coarse ticks. A directory that changed less than this ago may change once
 * more without a new time. If the clock is behind that of the files, they are only looked at more
 * often. If it is ahead, such a change may be missed, until somebody looks who has no clock.
 */
const tickMs = 2_000

/**
 * Watches the file at `path` and the two beside it that hold the newest writes. As long as their
 * directory does not change, they stay where they are. To look at it alone is quicker, and leaves
 * the files alone: since Linux 6.13, the next write to a file whose times somebody has seen must
 * store new ones, which on some file systems makes the disk write twice.
 */
export class FileIdentity {
  readonly #path: string
  readonly #clock: FileIdentityOptions['clock']
  readonly #look: NonNullable<FileIdentityOptions['look']>
  readonly #files: readonly (number | undefined)[]
  /** As it was when the files were last looked for; undefined if it had just changed. */
  #directory: Seen | undefined

  constructor(path: string, { clock, look = statOf }: FileIdentityOptions = {}) {
    this.#path = path
    this.#clock = clock
    this.#look = look
    this.#files = this.#inodes()
  }

  /** Throws if one was removed or replaced: what is written to it is lost when the process ends. */
  check(): void {
    // In this order: whatever changes after a step is seen by the next look.
    const nowMs = this.#clock?.nowMs() ?? 0
    const directory = this.#look(dirname(this.#path))
    if (isSame(directory, this.#directory)) return
    if (this.#inodes().some((inode, index) => inode !== this.#files[index])) {
      throw new HeddleError('unavailable',
        `${this.#path} was removed or replaced while it was in use. Put a backup in its place.`)
    }
    const isOld = directory !== undefined && nowMs - directory.ctimeMs > tickMs
    this.#directory = isOld ? directory : undefined
  }

  #inodes(): (number | undefined)[] {
    return [this.#path, `${this.#path}-wal`, writeAheadPath(this.#path)]
      .map((file) => this.#look(file)?.ino)
  }
}

function isSame(one: Seen | undefined, other: Seen | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.ctimeMs === other.ctimeMs
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
