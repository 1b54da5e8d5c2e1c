/** Reads rows and places of branches: what is known from memory, the rest from Cassandra. */

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { LogEntry, ReadBytes, Segment } from '../../../checkpoint/index.ts'
import type { BranchWriter } from './branch-writer.ts'
import type { CheckpointTable } from './checkpoint-table.ts'
import type { EpochRangeList, Slice } from './epoch-range.ts'
import type { LogReader } from './log-reader.ts'
import { indexRowUpTo, placeIn } from './place-index-row.ts'
import type { RowCache } from './row-cache.ts'

/** A part of a branch: where its rows are, and up to which row. */
export interface Line extends Segment {
  readonly ranges: EpochRangeList
  /** Writer of the branch, if this member has it. Otherwise the line ends at a fork point. */
  readonly writer?: BranchWriter
  /** True if it may grow, and this member does not write it. */
  readonly isForeign?: boolean
}

/** Rows of one branch. */
export interface BranchSlice extends Slice {
  readonly id: string
}

/** Order and bounds of a read. */
export interface SliceOptions {
  readonly reverse?: boolean | undefined
  readonly semaphore?: ReadBytes
}

/** A read of Cassandra that has not ended. */
interface Reading extends BranchSlice {
  readonly ended: Promise<unknown>
}

/** Belongs to `LogTable`. */
export class CachedReader {
  readonly #reader: LogReader
  readonly #checkpoints: CheckpointTable
  readonly #cache: RowCache
  readonly #readings = new Set<Reading>()

  constructor(reader: LogReader, checkpoints: CheckpointTable, cache: RowCache) {
    this.#reader = reader
    this.#checkpoints = checkpoints
    this.#cache = cache
  }

  /** As `LogReader.rows`. Waits for a read of the same rows instead of making another one. */
  async rows(slice: BranchSlice, options: SliceOptions): Promise<LogEntry[]> {
    const known = this.#cache.rows(slice.id, slice)
    if (known) return bounded(known, options)
    const under = [...this.#readings].find((each) => covers(each, slice))
    if (under) {
      await under.ended
      const now = this.#cache.rows(slice.id, slice)
      if (now) return bounded(now, options)
    }
    const read = this.#reader.rows(slice.id, slice, options)
    const reading = { ...slice, ended: read.catch(() => {}) }
    this.#readings.add(reading)
    try {
      const rows = await read
      this.#cache.addRead(slice.id, options.reverse ? rows.toReversed() : rows)
      return rows
    } finally {
      this.#readings.delete(reading)
    }
  }

  /** The place of a checkpoint in a line; undefined if no row after `statedAfter` names it. */
  async place(line: Line, checkpointId: string,
    statedAfter: number): Promise<CheckpointPlace | undefined> {
    const { id, through, writer } = line
    if (line.isForeign) return this.#read(line, checkpointId)
    const known = writer
      ? this.#cache.placeNow(id, writer, checkpointId, Math.max(statedAfter, line.from - 1))
      : this.#cache.placeAt(id, through, checkpointId)
    if ('place' in known) return known.place
    const place = await this.#read(line, checkpointId, known.placedFrom)
    known.learn(place)
    return place
  }

  /** Rows from `placedFrom` on are known not to name it. */
  async #read(line: Line, checkpointId: string,
    placedFrom = Infinity): Promise<CheckpointPlace | undefined> {
    const { id, ranges, through } = line
    const from = indexRowUpTo(through) + 1
    const [late, carried] = await Promise.all([
      placedFrom <= from ? [] : this.#reader.stating(id, ranges, from, through),
      this.#checkpoints.find(line, checkpointId),
    ])
    return placeIn(late, checkpointId) ?? carried
  }
}

function covers(reading: Reading, { id, epoch, from, through }: BranchSlice): boolean {
  return reading.id === id && reading.epoch === epoch && reading.from <= from
    && reading.through >= through
}

/** The rows in the order asked for, as far as they may be taken. */
function bounded(rows: readonly LogEntry[],
  { reverse = false, semaphore }: SliceOptions): LogEntry[] {
  const all = reverse ? rows.toReversed() : [...rows]
  const end = semaphore ? all.findIndex(({ body }) => !semaphore.takes(body.byteLength)) : -1
  return end < 0 ? all : all.slice(0, end)
}
