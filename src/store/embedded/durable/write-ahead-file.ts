/**
 * The write-ahead file: a write is on disk as soon as it is here, and the writer thread brings it
 * into the database afterwards. The main thread appends by itself: nobody waits for another thread
 * to be woken, to change some twenty pages, and to wake this one.
 */

import { closeSync, constants, fdatasyncSync, fsyncSync, openSync, readFileSync, rmSync,
  writeFileSync, writevSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Env } from '../../../../cluster/index.ts'
import { assert, HeddleError } from '../../../errors.ts'
import type { StoreGeneration } from '../requests/request.ts'
import type { WireBatch } from '../requests/wire-batch.ts'
import { headOf, lengthOf, recordsIn, sizeOf } from './write-ahead-record.ts'
import type { WriteAheadRecord } from './write-ahead-record.ts'

/** 256 small records. When it is full, one commit that waits for the disk makes room again. */
const writeAheadBytes = 1 << 20

/** Beside the database: whoever moves its files away by their beginning moves this too. */
export const writeAheadPath = (database: string) => `${database}-ahead`

/**
 * The main thread waits for the disk itself, and everybody waits for the main thread. A write of
 * `hiccupMs` or more is followed by a rest ten times as long as it took, in which the write-ahead
 * file is not used. If the last ten or so were slow on average, the rest is a hundred times as
 * long. There a longer write counts as `hiccupMs`, so that one alone does not make a quick disk
 * slow.
 */
const slowMs = 2
const shareOfLast = 0.1
const hiccupMs = 10
const restFactors = { hiccup: 10, slow: 100 } as const

export class WriteAheadFile {
  readonly #file: number
  readonly #env: Env
  readonly #salt: number
  #position = 0
  #averageMs = 0
  #restsUntilMs = 0
  #broken = false
  #closed = false

  /** For the records of a life. Throws what the system throws. */
  constructor(database: string, env: Env, { salt }: Pick<StoreGeneration, 'salt'>) {
    this.#file = openSync(writeAheadPath(database), 'r+')
    this.#env = env
    this.#salt = salt
  }

  /** Whether it is worth trying to append something of this size. */
  hasRoom({ text, bytes, long }: WireBatch): boolean {
    if (long !== undefined) return false
    const fits = this.#position + text.length + bytes.byteLength <= writeAheadBytes
    return fits && !this.#broken && this.#env.monotonicMs() >= this.#restsUntilMs
  }

  /**
   * Whether the writes are on disk now. If not, they must be committed as usual, and with this
   * number: it is not known whether they are.
   */
  append({ text, bytes }: WireBatch, number: number): boolean {
    const beganMs = this.#env.monotonicMs()
    const record = { text: Buffer.from(text), bytes }
    const size = sizeOf(record)
    if (this.#position + size > writeAheadBytes) return false
    try {
      const head = headOf(record, this.#salt, number)
      const parts = [head, record.text, bytes]
      const written = writevSync(this.#file, parts, this.#position)
      assert(written === lengthOf(record), 'the record is written whole')
      fdatasyncSync(this.#file)
    } catch (error) {
      this.#broken = true
      this.#env.log.warn('The write-ahead file cannot be written; writes are slower without it.', {
        error,
      })
      return false
    }
    this.#position += size
    this.#took(this.#env.monotonicMs() - beganMs)
    return true
  }

  /** The database has all records, and they are on disk there: begins from the start again. */
  rewind(): void {
    this.#position = 0
  }

  /** Nothing more is appended. May be called again. */
  close(): void {
    if (!this.#closed) closeSync(this.#file)
    this.#closed = true
  }

  #took(ms: number): void {
    this.#averageMs += (Math.min(ms, hiccupMs) - this.#averageMs) * shareOfLast
    const isSlow = this.#averageMs > slowMs
    if (isSlow) this.#averageMs = 0
    if (!isSlow && ms < hiccupMs) return
    this.#restsUntilMs = this.#env.monotonicMs() + ms * restFactors[isSlow ? 'slow' : 'hiccup']
  }
}

/** What a process that was killed has left; nothing if there is no write-ahead file. */
export function readWriteAhead(database: string): WriteAheadRecord[] {
  try {
    return [...recordsIn(readFileSync(writeAheadPath(database)))]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unusable(database, error)
  }
}

/**
 * Creates an empty write-ahead file for its owner only, in place of the one before. It has its full
 * length from the start, so that the disk has nothing to do for a record but to write it.
 */
export function createWriteAhead(database: string): void {
  const { O_CREAT, O_TRUNC, O_WRONLY } = constants
  try {
    withFile(openSync(writeAheadPath(database), O_CREAT | O_TRUNC | O_WRONLY, 0o600), (file) => {
      writeFileSync(file, Buffer.alloc(writeAheadBytes))
      fsyncSync(file)
    })
  } catch (error) {
    throw unusable(database, error)
  }
  try {
    // Its name must be on disk as well; some systems do that by themselves, and refuse this.
    withFile(openSync(dirname(database), 'r'), fsyncSync)
  } catch {}
}

/** The database has everything. */
export function removeWriteAhead(database: string): void {
  rmSync(writeAheadPath(database), { force: true })
}

function withFile(file: number, work: (file: number) => void): void {
  try {
    work(file)
  } finally {
    closeSync(file)
  }
}

function unusable(database: string, error: unknown): HeddleError {
  return new HeddleError('unavailable', `${writeAheadPath(database)} cannot be used. Free some ` +
    'space on the disk, or allow this user to read and write there.', {}, { cause: error })
}
