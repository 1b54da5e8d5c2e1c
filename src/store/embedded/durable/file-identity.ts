/** Checks that the files of an open database are still in place. SQLite itself would not notice. */

import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname } from 'node:path'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { writeAheadPath } from './write-ahead-file.ts'

/** The parts of a file's or directory's status that tell it from another. */
export type Seen = Pick<Stats, 'ino' | 'ctimeMs'>

/** Clock and function with which files are looked at. */
export interface FileIdentityOptions {
  /** Undefined to look at the files each time, without relying on a clock. */
  readonly clock?: Pick<Env, 'nowMs'>
  /** Returns undefined if nothing is at the path. */
  readonly look?: (path: string) => Seen | undefined
}

/**
 * Milliseconds in which a changed directory may change again without a new time, since the times of
 * files have coarse ticks. If the clock is behind that of the files, they are looked at more often.
 * If it is ahead, such a change may be missed until the next look without a clock.
 */
const tickMs = 2_000

/**
 * Watches the file at `path` and the two beside it that hold the newest writes. As long as their
 * directory does not change, they stay where they are. To look at the directory alone is quicker.
 * It also leaves the files alone: since Linux 6.13, the next write to a file whose times were read
 * must store new ones, and on some file systems the disk then writes twice.
 */
export class FileIdentity {
  readonly #path: string
  readonly #clock: FileIdentityOptions['clock']
  readonly #look: NonNullable<FileIdentityOptions['look']>
  readonly #files: readonly (number | undefined)[]
  /** The directory when the files were last looked for; undefined if it had just changed. */
  #directory: Seen | undefined

  constructor(path: string, { clock, look = statOf }: FileIdentityOptions = {}) {
    this.#path = path
    this.#clock = clock
    this.#look = look
    this.#files = this.#inodes()
  }

  /**
   * Throws if a file was removed or replaced: what is written to it is lost when the process ends.
   */
  check(): void {
    // The order matters: whatever changes after a step is seen by the next look.
    const nowMs = this.#clock?.nowMs() ?? 0
    const directory = this.#look(dirname(this.#path))
    if (isSame(directory, this.#directory)) return
    if (this.#inodes().some((inode, index) => inode !== this.#files[index])) {
      throw new HeddleError('unavailable',
        `${
          basename(this.#path)
        } was removed or replaced while it was in use. Put a backup in its place.`)
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
