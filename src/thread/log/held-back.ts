/** A row that is kept back from the disk, for only who waits for its run can know of it. */

import type { CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'
import { encodeRow } from '../../checkpoint/index.ts'
import type { LogEntry, LogPort, LogRange, RecordOf } from '../../checkpoint/index.ts'

/** The account of what one thread keeps back. */
export interface HeldBack {
  /** Charges so many bytes in all; false if there is no room for them, and they must be written. */
  takes(bytes: number): boolean
  /** Nothing is kept back any more: it is on its way to disk, or dropped. */
  end(): void
}

/** The row, and where it would stand. */
export interface HeldRow {
  readonly epoch: number
  readonly seq: number
  readonly records: readonly RecordOf[]
  readonly places: readonly CheckpointPlace[]
}

/** The log, as far as checkpoints are read from it. */
export type ReadableLog = Pick<LogPort, 'read' | 'findCheckpoint'>

/**
 * Time for which a row is kept back, in milliseconds. A caller that waits longer gets the id of its
 * run by early headers.
 */
export const heldMs = 2_000

/** A writer of a log that may keep a row back. */
interface HoldingWriter {
  readonly held: HeldRow | undefined
  readonly kept: Promise<void> | undefined
}

/** The log with the row that is kept back, if there is one. */
export function logWithHeld(log: ReadableLog, writer: () => HoldingWriter): ReadableLog {
  return {
    read: (branch, range) => {
      const { held, kept } = writer()
      if (held) return Promise.resolve(isIn(range, held) ? [entryOf(held)] : [])
      const read = () => log.read(branch, range)
      return kept ? kept.then(read) : read()
    },
    findCheckpoint: (branch, id, ...rest) => {
      const { held, kept } = writer()
      if (held) return Promise.resolve(held.places.findLast((place) => place.id === id))
      const find = () => log.findCheckpoint(branch, id, ...rest)
      return kept ? kept.then(find) : find()
    },
  }
}

function isIn({ from, through }: LogRange, { seq }: HeldRow): boolean {
  return seq >= from && seq <= through
}

function entryOf({ epoch, seq, records }: HeldRow): LogEntry {
  return { epoch, seq, body: encodeRow(records) }
}
