/** Reads the rows of a log in portions, which are smaller if the rows are large. */

import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import type { LogEntry, LogPort, LogRange } from './log-port.ts'

/** Rows to read, the log to read them from, and the size of the first portion. */
export interface RowsOptions extends Omit<LogRange, 'limit' | 'bytes' | 'bodyBytes'> {
  readonly log: Pick<LogPort, 'read'>
  readonly branch: Branch
  /** Rows of the first portion; 64 by default. */
  readonly first?: number
}

const rowsMax = 256

/** Bytes of a portion of more than one row. */
const bytesTogether = 4 * 1024 * 1024

/** If rows are small, a portion may have this many times the rows of the one before. */
const growth = 4

/** Yields rows of a branch one by one. A consumer that stops early reads no further portion. */
export async function* rowsOf(
  { log, branch, from, through, reverse = false, first = 64 }: RowsOptions,
): AsyncGenerator<LogEntry> {
  let [low, high] = [from, through]
  for (let rows = first; low <= high;) {
    const range = reverse
      ? { from: Math.max(low, high - rows + 1), through: high, reverse }
      : { from: low, through: Math.min(high, low + rows - 1) }
    const read = await log.read(branch, { ...range, bytes: bytesTogether })
    yield* read
    // Fewer rows than asked for: the next one was too much.
    const last = read.at(-1)?.seq
    if (reverse) high = (last ?? range.from) - 1
    else low = (last ?? range.through) + 1
    rows = rowsAfter(rows, read)
  }
}

function rowsAfter(rows: number, read: readonly LogEntry[]): number {
  const bytes = read.reduce((sum, { body }) => sum + body.length, 0)
  const fitting = Math.floor(bytesTogether * read.length / Math.max(1, bytes))
  return Math.max(1, Math.min(fitting, growth * rows, rowsMax))
}
