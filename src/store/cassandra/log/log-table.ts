/**
 * Rows of the log: appended after the newest of their branch, read back, removed when not needed.
 */

import { Backoff } from '../../../../cluster/index.ts'
import type { Env, OwnershipCheck } from '../../../../cluster/index.ts'
import type { Branch, CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import { ReadBytes, segmentsOf } from '../../../checkpoint/index.ts'
import type { LogEntry, LogRange, NewRow, Segment } from '../../../checkpoint/index.ts'
import { goingAway, HeddleError } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'
import { BranchCache } from './branch-cache.ts'
import { BranchWriter } from './branch-writer.ts'
import { CachedReader } from './cached-reader.ts'
import type { BranchSlice, Line } from './cached-reader.ts'
import type { Position } from './chain.ts'
import { CheckpointTable } from './checkpoint-table.ts'
import type { ChunkTable } from './chunk-table.ts'
import type { Commit, Patience } from './commit.ts'
import { slicesOf, rangeAt, rangesThrough } from './epoch-range.ts'
import type { Slice } from './epoch-range.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { LogCutter } from './log-cutter.ts'
import type { LogCut } from './log-cutter.ts'
import { chunkKey, LogReader, rowsAreGone } from './log-reader.ts'
import type { BranchEnd } from './log-reader.ts'
import { LwtCommit } from './lwt-commit.ts'
import { PlainCommit } from './plain-commit.ts'
import type { RowCache } from './row-cache.ts'
import type { WriteTimestamp } from './write-timestamp.ts'

/**
 * validate  plain writes; ownership is confirmed after them, before an acknowledgement
 * lwt       one compare-and-set per row
 */
export type CommitMode = 'validate' | 'lwt'

/** Connection and mode of the log of one store. `rank` makes the timestamps of writes. */
export interface LogTableOptions {
  readonly connection: Connection
  readonly rank: WriteTimestamp
  readonly chunks: ChunkTable
  readonly cache: RowCache
  readonly check: Pick<OwnershipCheck, 'confirm'>
  readonly env: Pick<Env, 'after' | 'random'>
  readonly commit: CommitMode
  /** True if the owner of the branch was deleted. */
  readonly isDead: (branchId: string) => Promise<boolean>
  /** Bytes of bodies in a bucket; 8 MiB by default. */
  readonly bucketBytes?: number
  /** Branches that are cached while they have no rows in flight; 20 000 by default. */
  readonly branchesKept?: number
}

type Extent = Pick<LogRange, 'from' | 'through'>
const everything: Extent = { from: 1, through: Number.MAX_SAFE_INTEGER }

const pauses = { firstMs: 250, longestMs: 250 }
const slicesAtOnce = 8

/** The log of all branches that this member reads or writes. One for each store. */
export class LogTable {
  readonly #options: LogTableOptions
  readonly #reader: LogReader
  readonly #cutter: LogCutter
  readonly #cache: RowCache
  readonly #cached: CachedReader
  readonly #commit: Commit
  readonly #patience: Patience
  readonly #views: BranchCache
  /** By branch: appends that wait until its end is known. */
  readonly #opening = new KeyedQueue()
  #closed = false

  constructor(options: LogTableOptions) {
    const { connection, rank, chunks, cache, check, env, commit, branchesKept = 20_000 } = options
    this.#options = options
    this.#reader = new LogReader(connection, chunks)
    this.#cutter = new LogCutter({ connection, rank, chunks, reader: this.#reader })
    const checkpoints = new CheckpointTable(connection)
    this.#cache = cache
    this.#cached = new CachedReader(this.#reader, checkpoints, cache)
    const closed = () => this.#closed
    const patience = this.#patience = {
      pause: () => new Backoff(env, pauses).pause(),
      get ended() {
        return closed()
      },
    }
    this.#commit = commit === 'lwt'
      ? new LwtCommit({ connection, checkpoints, patience })
      : new PlainCommit({ connection, checkpoints, rank, check })
    this.#views = new BranchCache(branchesKept)
  }

  /** Takes a branch over for an epoch, before it is known what will be written. */
  async open(branch: Branch, epoch: number): Promise<void> {
    if (this.#closed) throw goingAway()
    const slot = this.#opening.enter([branch.id])
    try {
      await slot.before
      const requirePrecede = (tip: Position) => {
        if (tip.epoch > epoch) throw stale(tip)
      }
      const branchWriter = await this.#branchWriterOf(branch, epoch, requirePrecede)
      requirePrecede(branchWriter.tip)
      this.#views.put(branchWriter)
    } finally {
      slot.leave()
    }
  }

  /**
   * Resolves when the rows, and every row before them, are on a quorum. Throws `stale_append`
   * before anything is written. Throws `unavailable` if nothing was written, or perhaps was if its
   * details say `ambiguous`.
   */
  async append(rows: readonly NewRow[]): Promise<void> {
    if (this.#closed) throw goingAway()
    const firsts = firstOfEach(rows)
    const views = firsts.map((row) => this.#ready(row))
    if (views.every((branchWriter) => branchWriter !== undefined)) return this.#enter(rows, views)
    return this.#enterInLine(rows, firsts)
  }

  /**
   * The newest row of the branch, including its ancestors, up to a row; undefined for an empty log.
   * Throws if what the branch grew from does not exist any more.
   */
  async tail(branch: Branch, upTo = everything.through): Promise<Position | undefined> {
    for (const { id } of branch.ancestors) this.#cache.forgetLines(id)
    for await (const { ranges, through } of this.#linesOf(branch, { from: 1, through: upTo })) {
      const last = rangeAt(ranges, through)
      if (last) return { epoch: last.epoch, seq: through }
    }
    return undefined
  }

  /**
   * Rows in the requested order, including those of ancestors. Throws `not_found` if an ancestor
   * lacks rows, as the branch was deleted then.
   */
  async read(branch: Branch, range: LogRange): Promise<LogEntry[]> {
    const { from, through, reverse = false, limit } = range
    const slices: BranchSlice[] = []
    let above: number | undefined
    for await (const line of this.#linesOf(branch, { from, through })) {
      const [first, last] = [Math.max(from, line.from), Math.min(through, line.through)]
      if (above !== undefined && last + 1 < above) throw rowsAreGone()
      above = first
      slices.unshift(
        ...slicesOf(line.ranges, first, last).map((slice) => ({ ...slice, id: line.id })),
      )
    }
    if (above !== undefined && above > from) throw rowsAreGone()
    const wanted = limited(reverse ? slices.reverse() : slices, reverse, limit)
    if (range.bytes !== undefined || range.bodyBytes !== undefined) {
      return this.#readWithin(wanted, range)
    }
    const entries: LogEntry[][] = []
    for (let at = 0; at < wanted.length; at += slicesAtOnce) {
      entries.push(
        ...await Promise.all(
          wanted.slice(at, at + slicesAtOnce).map((slice) => this.#cached.rows(slice, { reverse })),
        ),
      )
    }
    return entries.flat()
  }

  /** Reads one slice after the other, until there are enough bytes. */
  async #readWithin(slices: readonly BranchSlice[], range: LogRange): Promise<LogEntry[]> {
    const semaphore = new ReadBytes(range)
    const entries: LogEntry[] = []
    for (const slice of slices) {
      const read = await this.#cached.rows(slice, { reverse: range.reverse, semaphore })
      for (const entry of read) entries.push(entry)
      if (read.length < slice.through - slice.from + 1) break
    }
    return entries
  }

  /** The place of a checkpoint; undefined if the branch and its ancestors do not have its id. */
  async findCheckpoint(branch: Branch, checkpointId: string,
    statedAfter = 0): Promise<CheckpointPlace | undefined> {
    for await (const line of this.#linesOf(branch, { ...everything, from: statedAfter + 1 })) {
      const place = await this.#cached.place(line, checkpointId, statedAfter)
      if (place) return place
    }
    return undefined
  }

  /** Removes rows that no branch needs, once all earlier appends have been written. */
  async cut(cut: LogCut): Promise<void> {
    const { branchId } = cut
    await this.#opening.passed(branchId)
    await this.#views.get(branchId)?.quiet
    this.#views.forget(branchId)
    await this.#cutter.cut(cut)
    this.#cache.forget(branchId)
  }

  /** Forgets branches that other members may write to from now on. */
  forget(): void {
    this.#views.forgetIdle()
    this.#cache.clear()
  }

  /** Takes no more rows. Resolves when all earlier appends are written or have failed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#opening.quiet()
    await this.#views.quiet()
  }

  /**
   * The branch writer that can take the row at once; undefined if the branch must be read first.
   */
  #ready(row: NewRow): BranchWriter | undefined {
    const { id } = row.branch
    if (this.#opening.passed(id)) return undefined
    const branchWriter = this.#views.get(id)
    if (branchWriter) return branchWriter.epoch >= row.epoch ? branchWriter : undefined
    // This is the first row of a branch that no other member can know of.
    if (row.seq !== originOf(row.branch) + 1) return undefined
    return this.#newBranchWriter(row.branch, row.epoch, undefined)
  }

  /** Appends in the order of the calls, whatever each of them has to wait for. */
  async #enterInLine(rows: readonly NewRow[], firsts: readonly NewRow[]): Promise<void> {
    const slot = this.#opening.enter(firsts.map(({ branch }) => branch.id))
    try {
      await slot.before
      const views = await Promise.all(
        firsts.map((row) =>
          this.#branchWriterOf(row.branch, row.epoch, (tip) => follow(tip, row, row.epoch))
        ),
      )
      return this.#enter(rows, views)
    } finally {
      slot.leave()
    }
  }

  /** Takes all of the rows or none. */
  #enter(rows: readonly NewRow[], views: readonly BranchWriter[]): Promise<void> {
    const byId = new Map(views.map((branchWriter) => [branchWriter.branchId, branchWriter]))
    const tips = new Map<string, Position>()
    for (const row of rows) {
      const { id } = row.branch
      const branchWriter = byId.get(id)!
      if (branchWriter.lost) throw new HeddleError('unavailable')
      tips.set(id, follow(tips.get(id) ?? branchWriter.tip, row, branchWriter.epoch))
    }
    const durable = rows.map((row) => byId.get(row.branch.id)!.append(row))
    for (const branchWriter of views) this.#views.put(branchWriter)
    return Promise.all(durable).then(() => undefined)
  }

  /** Reads where the branch ends and takes it over, unless `look` throws for that end. */
  async #branchWriterOf(branch: Branch, epoch: number,
    look: (tip: Position) => void): Promise<BranchWriter> {
    const { id } = branch
    while (!this.#closed) {
      const known = this.#views.get(id)
      if (known && known.epoch >= epoch) return known
      await known?.quiet
      // The writer is of an epoch that has ended. Other members may have written since.
      this.#views.forget(id)
      const [end, dead] = await Promise.all([this.#reader.end(id), this.#options.isDead(id)])
      const tip = end?.tail ?? { epoch: 0, seq: originOf(branch) }
      if (dead) throw stale(tip).with({ dead })
      look(tip)
      const taken = !end || tip.epoch === epoch || await this.#commit.open(id, end, epoch)
      if (taken) return this.#newBranchWriter(branch, epoch, end)
      await this.#patience.pause()
    }
    throw goingAway()
  }

  #newBranchWriter(branch: Branch, epoch: number, end: BranchEnd | undefined): BranchWriter {
    const { rank, chunks, bucketBytes = 8 * 1024 * 1024 } = this.#options
    const branchWriter: BranchWriter = new BranchWriter({
      branchId: branch.id,
      epoch,
      end,
      origin: originOf(branch),
      bucketBytes,
      commit: this.#commit,
      patience: this.#patience,
      timestamp: () => rank.next(epoch),
      write: async (row, body) => {
        if (row.chunks > 0) await chunks.write(chunkKey(branch.id, row), body, row.timestamp)
        return this.#commit.write(row)
      },
      onSettled: (row) => this.#cache.settled(branch.id, branchWriter, row),
      onIdle: () => this.#views.put(branchWriter),
    })
    this.#cache.begin(branch.id, branchWriter, end?.rows)
    return branchWriter
  }

  /** The parts of a branch that contain any of these rows, newest first. */
  async *#linesOf(branch: Branch, { from, through }: Extent): AsyncGenerator<Line, void, void> {
    for (const segment of segmentsOf(branch)) {
      if (segment.from > through) continue
      if (segment.through < from) return
      const line = segment.id === branch.id
        ? await this.#ownLine(segment, through)
        : await this.#ancestorLine(segment)
      if (line) yield line
    }
  }

  /**
   * The branch's own part as of now, or up to the wanted row. Only the writer of a branch knows its
   * end without reading it.
   */
  async #ownLine({ id, from }: Segment, wanted: number): Promise<Line | undefined> {
    await this.#opening.passed(id)
    const branchWriter = this.#views.get(id)
    if (branchWriter && wanted > branchWriter.settledSeq) await branchWriter.quiet
    if (branchWriter && !branchWriter.lost) {
      const { settledSeq: through, ranges } = branchWriter
      return { id, from, through, ranges, writer: branchWriter }
    }
    const end = await this.#reader.end(id)
    return end && { id, from, through: end.tail.seq, ranges: end.ranges, isForeign: true }
  }

  /**
   * The part of an ancestor as of the fork point, whichever member writes to it now. A branch
   * writer cannot be used, as it may belong to an owner that was deposed.
   */
  async #ancestorLine({ id, from, through }: Segment): Promise<Line | undefined> {
    const known = this.#cache.lineAt(id, through)
    if (known) return known
    const end = await this.#reader.end(id)
    if (!end) return undefined
    const last = Math.min(through, end.tail.seq)
    const line = { id, from, through: last, ranges: rangesThrough(end.ranges, last) }
    // Rows before a fork point never change.
    if (last === through) this.#cache.addLine(line)
    return line
  }
}

function originOf(branch: Branch): number {
  return branch.ancestors.at(-1)?.through ?? 0
}

/** The first row of each branch. */
function firstOfEach(rows: readonly NewRow[]): NewRow[] {
  const ids = new Set<string>()
  return rows.filter(({ branch: { id } }) => !ids.has(id) && ids.add(id))
}

/** The tip after `row` was appended. */
function follow(tip: Position, row: NewRow, viewEpoch: number): Position {
  const { epoch, seq } = row
  // Epochs of another branch belong to another owner and do not matter here.
  const linked = tip.epoch === 0 || row.prevEpoch === tip.epoch
  if (!linked || seq !== tip.seq + 1 || epoch < tip.epoch || epoch !== viewEpoch) throw stale(tip)
  return { epoch, seq }
}

function stale({ epoch, seq }: Position): HeddleError {
  return new HeddleError('stale_append', undefined, { epoch, seq })
}

/** Cuts slices in reading order to as many rows as are wanted. */
function limited<Each extends Slice>(slices: readonly Each[], reverse: boolean,
  limit = Infinity): Each[] {
  let left = limit
  return slices.flatMap((slice) => {
    const rows = Math.min(left, slice.through - slice.from + 1)
    left -= rows
    if (rows === 0) return []
    return reverse
      ? { ...slice, from: slice.through - rows + 1 }
      : { ...slice, through: slice.from + rows - 1 }
  })
}
