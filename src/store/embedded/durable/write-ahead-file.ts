/**
 * The write-ahead file. A write is on disk as soon as it is here, and the writer thread brings it
 * into the database afterwards. The main thread appends by itself. So a write does not wait for two
 * threads to be woken and for some twenty pages to change.
 */

import { closeSync, constants, fdatasyncSync, fsyncSync, openSync, readFileSync, rmSync,
  writeFileSync, writevSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Env } from '../../../../cluster/index.ts'
import { assert, HeddleError } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'
import type { StoreGeneration } from '../requests/request.ts'
import type { WireBatch } from '../requests/wire-batch.ts'
import { headOf, lengthOf, recordsIn, sizeOf } from './write-ahead-record.ts'
import type { WriteAheadRecord } from './write-ahead-record.ts'

/**
 * Bytes of the file: 256 small records. A full file is emptied by one commit that waits for the
 * disk.
 */
const writeAheadBytes = 1 << 20

/** Path of the file. It begins as the database's, so who moves all of those moves this too. */
export const writeAheadPath = (database: string) => `${database}-ahead`

/**
 * Milliseconds of a slow write. The main thread waits for the disk here, and everything waits for
 * the main thread. After a write of `hiccupMs` or more the file is not used for ten times as long
 * as the write took. It is not used for a hundred times as long if the last ten or so were slow on
 * average. The average counts a longer write as `hiccupMs`, so that a single one does not make a
 * quick disk slow.
 */
const slowMs = 2
const shareOfLast = 0.1
const hiccupMs = 10
const restFactors = { hiccup: 10, slow: 100 } as const

/** The open write-ahead file of this process. Used by `WriterLink`. */
export class WriteAheadFile {
  readonly #file: number
  readonly #env: Env
  readonly #salt: number
  #position = 0
  #averageMs = 0
  #restsUntilMs = 0
  #broken = false
  #closed = false

  /** Opens the file for the records of a generation. Throws what the system throws. */
  constructor(database: string, env: Env, { salt }: Pick<StoreGeneration, 'salt'>) {
    this.#file = openSync(writeAheadPath(database), 'r+')
    this.#env = env
    this.#salt = salt
  }

  /** True if appending something of this size is worth a try. */
  hasRoom({ text, bytes, long }: WireBatch): boolean {
    if (long !== undefined) return false
    const fits = this.#position + text.length + bytes.byteLength <= writeAheadBytes
    return fits && !this.#broken && this.#env.monotonicMs() >= this.#restsUntilMs
  }

  /**
   * Appends a batch. True if its writes are on disk now. If false, they may be on disk or not: they
   * must be committed as usual, and with this number.
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

  /** Appends nothing more. May be called again. */
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

/** The records that a killed process has left; none if there is no file. */
export function readWriteAhead(database: string): WriteAheadRecord[] {
  try {
    return [...recordsIn(readFileSync(writeAheadPath(database)))]
  } catch (error) {
    if (memberOf(error, 'code') === 'ENOENT') return []
    throw unusable(database, error)
  }
}

/**
 * Creates an empty file for its owner only, in place of the one before. It has its full length from
 * the start, so that a record costs one write and no change of the length.
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
    // The name must be on disk as well. Some systems do that by themselves, and refuse this.
    withFile(openSync(dirname(database), 'r'), fsyncSync)
  } catch {}
}

/** Removes the file. The database must have everything. */
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
