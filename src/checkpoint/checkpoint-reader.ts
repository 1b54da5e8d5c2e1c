/** Reads checkpoints back from a thread's log: one by id, or a page of history. */

import type { CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import { contains } from '../json/index.ts'
import type { ReadAllowance, ReadPart } from '../limits/index.ts'
import { bareRecords } from './bare-checkpoint.ts'
import type { LeftOut, SizedCheckpoint } from './bare-checkpoint.ts'
import { ChannelView } from './channel-view.ts'
import { CheckpointLine, step } from './checkpoint-line.ts'
import type { LineState } from './checkpoint-line.ts'
import { History, writesIn } from './history.ts'
import type { Named } from './history.ts'
import { asPatched, isCutOff } from './log-head.ts'
import type { LogHead } from './log-head.ts'
import type { LogEntry, LogPort } from './log-port.ts'
import { rowsOf } from './log-rows.ts'
import type { RowsOptions } from './log-rows.ts'
import { lateWritesOf, newestOf } from './place-name.ts'
import { recordBytes, taskBytes } from './record-bytes.ts'
import { belongs, ends, partOf, recordsUpTo } from './record-span.ts'
import { decodeRow } from './row-codec.ts'
import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'
import type { CheckpointSource, StoredTuple, TupleQuery } from './tuple.ts'

/** A checkpoint as it is in the log, and the writes on it. */
interface Entry {
  readonly checkpoint: SizedCheckpoint
  readonly writes: readonly Writes[]
}

/** A checkpoint with the state it stands for. */
export interface ReadCheckpoint extends Entry {
  readonly view: ChannelView
  readonly newest: boolean
  readonly deltaBytes: number
  readonly fullBytes: number
}

/** Bounds of a read of a log: its memory, and the values left out. By default there are none. */
export interface ReadScope {
  readonly part?: ReadPart | undefined
  readonly leftOut?: LeftOut | undefined
}

/** Rows that are read at once for a state. Few states are made of more. */
const rowsOfState = 256
/** Rows that are read first for a page, at most. A superstep has two or three. */
const rowsOfPage = 64

/**
 * Reads checkpoints of one thread. A checkpoint's state is found from its nearest full ancestor.
 * The rows between are read once, and only the changes on its own line of ancestors count. So rows
 * of abandoned lines in between do no harm.
 */
export class CheckpointReader implements CheckpointSource {
  readonly #log: Pick<LogPort, 'read' | 'findCheckpoint'>
  readonly #head: () => LogHead
  readonly #part: ReadPart | undefined
  readonly #leftOut: LeftOut | undefined

  /** With `part`, keeps no more than that allows, and throws `too_large` as it does. */
  constructor(log: Pick<LogPort, 'read' | 'findCheckpoint'>, head: () => LogHead,
    { part, leftOut }: ReadScope = {}) {
    this.#log = log
    this.#head = head
    this.#part = part
    this.#leftOut = leftOut
  }

  /** Reads within an allowance. What it returns is counted until the read has ended. */
  async within<Read extends ReadCheckpoint | readonly ReadCheckpoint[] | ChannelView | undefined>(
    allowance: ReadAllowance,
    read: (reader: CheckpointReader) => Promise<Read>,
    leftOut?: LeftOut,
  ): Promise<Read> {
    const part = allowance.part()
    const found = await read(new CheckpointReader(this.#log, this.#head, { part, leftOut }))
    part.done(heldBytes(found))
    return found
  }

  async tuple(ns: string, checkpointId: string | null): Promise<StoredTuple | undefined> {
    const found = await this.checkpoint(ns, checkpointId)
    return found && toTuple(found)
  }

  async list(query: TupleQuery): Promise<StoredTuple[]> {
    return (await this.page(query)).map(toTuple)
  }

  /** As `tuple`, with the state as a view. A state of the root that is `known` is not read. */
  async checkpoint(ns: string, checkpointId: string | null,
    known?: (id: string) => ChannelView | undefined): Promise<ReadCheckpoint | undefined> {
    const now = this.#head()
    const place = await this.#place(now, ns, checkpointId)
    if (!place) return undefined
    const { seq } = place
    const view = ns === '' ? known?.(checkpointId ?? place.id) : undefined
    const state = view
      ? this.#besides(now, place, view)
      : this.#stateAt(now, place, ns, checkpointId)
    // State and writes are read together, unless only the state tells which checkpoint it is.
    const named = checkpointId ?? (ns === '' ? place.id : undefined)
    const id = named ?? (await state)?.checkpoint.id
    if (id === undefined) return undefined
    const isHead = ns === '' && now.head?.id === id
    const newest = (checkpointId === null || isHead) && !(ns === '' && now.movedBack)
    const writes = this.#writes(now, { ns, id, seq }, isHead && newest)
    const [found, all] = await Promise.all([state, writes])
    const checkpoint = found && asPatched(now, found.checkpoint)
    return checkpoint && { ...found, checkpoint, newest, writes: all }
  }

  /** True if the checkpoint is part of history. Reads one row. */
  async has(ns: string, id: string): Promise<boolean> {
    const now = this.#head()
    const place = await this.#place(now, ns, id)
    if (!place || isCutOff(now, ns, place)) return false
    const [row] = await this.#log.read(now.branch, { from: place.seq, through: place.seq })
    return row !== undefined &&
      this.#records(now, row).some((record) =>
        record.$case === 'checkpoint' && belongs(record, { ns, id })
      )
  }

  /** The state alone, without the writes on it. */
  async view(ns: string, checkpointId: string): Promise<ChannelView | undefined> {
    return (await this.#found(this.#head(), ns, checkpointId))?.view
  }

  async #found(now: LogHead, ns: string, checkpointId: string): Promise<FoundState | undefined> {
    const place = await this.#place(now, ns, checkpointId)
    return place && await this.#stateAt(now, place, ns, checkpointId)
  }

  async #stateAt(now: LogHead, place: CheckpointPlace, ns: string,
    checkpointId: string | null): Promise<FoundState | undefined> {
    // What later checkpoints replace is dropped where memory counts, unless a fork needs it.
    const known = checkpointId ?? (ns === '' ? place.id : undefined)
    const frugal = new CheckpointLine(ns, this.#part !== undefined)
    await this.#readLine(now, place, frugal, known)
    const line = frugal.lacksPart ? new CheckpointLine(ns) : frugal
    if (line !== frugal) await this.#readLine(now, place, line, known)
    const checkpoint = line.get(known ?? line.newestId)
    return checkpoint && { ...line.state(checkpoint), checkpoint }
  }

  /** The checkpoint whose state is known. Reads one row for its metadata. */
  async #besides(now: LogHead, { id, seq }: CheckpointPlace,
    view: ChannelView): Promise<FoundState | undefined> {
    for await (const entry of this.#rows(now, { from: seq, through: seq, first: 1 })) {
      const record = this.#records(now, entry).findLast((each) =>
        each.$case === 'checkpoint' && each.value.id === id
      )
      if (record?.$case === 'checkpoint') {
        return { view, checkpoint: record.value, deltaBytes: 0, fullBytes: 0 }
      }
    }
    return undefined
  }

  async #readLine(now: LogHead, { base, seq: through }: CheckpointPlace, line: CheckpointLine,
    id: string | undefined): Promise<void> {
    for await (const entry of this.#rows(now, { from: base, through, first: rowsOfState })) {
      const before = line.bytes
      const records = this.#records(now, entry)
      line.add(entry.seq === through && id !== undefined ? recordsUpTo(records, id) : records)
      this.#part?.keep(line.bytes - before)
    }
    if (line.lacksPart) this.#part?.keep(-line.bytes)
  }

  /** A page of history, newest first, without what rollbacks dropped. */
  async page(query: TupleQuery): Promise<ReadCheckpoint[]> {
    const now = this.#head()
    const limit = query.limit ?? Number.POSITIVE_INFINITY
    const before = query.before === null
      ? undefined
      : await this.#place(now, query.ns ?? '', query.before)
    const page: Checkpoint[] = []
    const history = new History()
    const read = async () =>
      this.#withStates(now, await Promise.all(page.map(
        async (checkpoint) => ({ checkpoint, writes: [
          ...history.writesOf(checkpoint),
          ...before ? await this.#lateWrites(now, checkpoint, before.seq) : [],
        ] }),
      )))
    let waiting = before ? query.before : null
    const through = before?.seq ?? now.stepSeq
    const range = { from: 1, through, reverse: true, first: Math.min(rowsOfPage, 4 * limit + 2) }
    for await (const entry of this.#rows(now, range)) {
      const { seq } = entry
      for (const record of this.#records(now, entry).toReversed()) {
        const checkpoint = history.back(record)
        if (!checkpoint) continue
        if (isCutOff(now, checkpoint.ns, { id: checkpoint.id, seq })) return read()
        if (waiting !== null) {
          if (checkpoint.id === waiting) waiting = null
          history.forget(checkpoint)
          continue
        }
        // For a `before` that is not in this log: older checkpoints have smaller ids.
        if (!before && query.before !== null && checkpoint.id >= query.before) {
          history.forget(checkpoint)
          continue
        }
        // Not sooner, as writes may come before their checkpoint, if the run is saved at its end.
        if (page.length >= limit && ends(checkpoint, page.at(-1)!)) return read()
        if (page.length < limit && matches(asPatched(now, checkpoint), query)) {
          page.push(checkpoint)
          this.#part?.keep(recordBytes(record))
        } else {
          history.forget(checkpoint)
        }
      }
      this.#part?.keep(history.newlyKept())
    }
    return read()
  }

  /** The records of a row that concern this thread, without what is left out. */
  #records({ ends }: LogHead, { body, seq }: LogEntry): readonly RecordOf[] {
    const all = decodeRow(body)
    const end = ends?.find((each) => each.seq === seq)
    const own = end ? recordsUpTo(all, end.checkpointId) : all
    return bareRecords(own, this.#leftOut)
  }

  /** The place of a checkpoint; undefined also for one that a rollback dropped. */
  async #place(now: LogHead, ns: string, id: string | null): Promise<CheckpointPlace | undefined> {
    const isHead = ns === '' && (id === null || id === now.head?.id)
    const place = isHead
      ? now.head
      : await this.#log.findCheckpoint(now.branch, id ?? newestOf(ns))
    return place && place.seq > 0 ? place : undefined
  }

  #rows({ branch }: LogHead, range: Omit<RowsOptions, 'log' | 'branch'>): AsyncIterable<LogEntry> {
    const log = this.#log
    const part = this.#part
    if (part === undefined) return rowsOf({ log, branch, ...range })
    // A row is read only if there is room for it beside what is kept by then.
    const read: LogPort['read'] = (from, rows) =>
      part.beside(() => log.read(from, { ...rows, bodyBytes: Math.max(0, part.left) }))
    return rowsOf({ log: { read }, branch, ...range })
  }

  /** Adds the states, oldest first. Each is built on its parent's if that is on the page. */
  async #withStates(now: LogHead, page: readonly Entry[]): Promise<ReadCheckpoint[]> {
    const states = new Map<string, LineState>()
    const read: ReadCheckpoint[] = []
    for (const { checkpoint, writes } of page.toReversed()) {
      const before = states.get(checkpoint.parentId)
      const state = before || checkpoint.full
        ? step(before, checkpoint)
        : await this.#found(now, checkpoint.ns, checkpoint.id) ?? step(undefined, checkpoint)
      states.set(checkpoint.id, state)
      const newest = checkpoint.ns === '' && now.head?.id === checkpoint.id && !now.movedBack
      read.push({ checkpoint: asPatched(now, checkpoint), writes, newest, ...state })
    }
    return read.reverse()
  }

  /**
   * The writes in the span of a checkpoint: from its row to the next checkpoint of its namespace or
   * of the root. Writes that came later, as a fork's do, are found by name.
   */
  async #writes(now: LogHead, of: Named & { readonly seq: number },
    isNewestHead: boolean): Promise<Writes[]> {
    const near = this.#writesFrom(now, of, of.seq)
    const late = isNewestHead ? [] : this.#lateWrites(now, of, near.then(({ through }) => through))
    const [{ writes }, more] = await Promise.all([near, late])
    return [...writes, ...more]
  }

  /** The writes that came after the span. Rows up to `known` belong to it. */
  async #lateWrites(now: LogHead, of: Named & { readonly seq?: number },
    known: number | Promise<number>): Promise<readonly Writes[]> {
    // What the rows up to the checkpoint name is before the span.
    const find = (beforeSeq?: number) =>
      this.#log.findCheckpoint(now.branch, lateWritesOf(of.id, beforeSeq), of.seq)
    let [late, through] = await Promise.all([find(), known])
    const begins: number[] = []
    for (; late && late.seq > through; late = await find(late.seq)) begins.push(late.seq)
    const writes: Writes[] = []
    for (const seq of begins.reverse()) {
      // Read already: a rollback dropped what stood in between.
      if (seq <= through) continue
      const range = await this.#writesFrom(now, of, seq)
      for (const each of range.writes) writes.push(each)
      through = range.through
    }
    return writes
  }

  /** The writes from a row to the end of the span, and the last row that was read. */
  async #writesFrom(now: LogHead, of: Named,
    from: number): Promise<{ writes: readonly Writes[]; through: number }> {
    const span: RecordOf[] = []
    for (let at = from;;) {
      const { through, next } = await this.#readOn(now, of, at, span)
      const back = next && await this.#takenBack(now, next)
      if (back === undefined) return { writes: writesIn(span, of), through }
      // The rollback in row `back` dropped the checkpoint that ended the span, so the span
      // continues there.
      at = Math.max(back, through + 1)
    }
  }

  /**
   * Adds to `span` the records that tell which run wrote what, up to the checkpoint that ends it.
   * That is `next` if another run put it, as a rollback may then have dropped it.
   */
  async #readOn(now: LogHead, of: Named, from: number,
    span: RecordOf[]): Promise<{ through: number; next: Checkpoint | undefined }> {
    let begun = span.length > 0
    let run: string | undefined
    for await (const entry of this.#rows(now, { from, through: now.stepSeq })) {
      const { seq } = entry
      for (const record of this.#records(now, entry)) {
        if (belongs(record, of)) {
          begun = true
          if (record.$case === 'checkpoint') run = record.value.runId
        } else if (begun && record.$case === 'checkpoint' && ends(record.value, of)) {
          return { through: seq, next: record.value.runId === run ? undefined : record.value }
        }
        const part = partOf(record, of)
        if (!part) continue
        span.push(part)
        if (part.$case === 'writes') this.#part?.keep(taskBytes(part.value))
      }
    }
    return { through: now.stepSeq, next: undefined }
  }

  /** The row of the rollback that dropped a checkpoint; undefined if none did. */
  async #takenBack(now: LogHead, { id }: Checkpoint): Promise<number | undefined> {
    const place = await this.#log.findCheckpoint(now.branch, id)
    return place?.seq === 0 ? place.base : undefined
  }
}

/**
 * Bytes of states. They share what did not change, but code that takes them apart has all of each.
 */
function heldBytes(
  found: ReadCheckpoint | readonly ReadCheckpoint[] | ChannelView | undefined,
): number {
  if (found === undefined) return 0
  if (found instanceof ChannelView) return found.textBytes
  if (isPage(found)) return found.reduce((sum, each) => sum + heldBytes(each), 0)
  const { view, checkpoint: { skeletonJson, metadataJson }, writes } = found
  const own = view.textBytes + skeletonJson.length + metadataJson.length
  return writes.reduce((sum, each) => sum + taskBytes(each), own)
}

function isPage(
  found: ReadCheckpoint | readonly ReadCheckpoint[],
): found is readonly ReadCheckpoint[] {
  return Array.isArray(found)
}

interface FoundState extends LineState {
  readonly checkpoint: Checkpoint
}

function matches(checkpoint: Checkpoint, query: TupleQuery): boolean {
  if (query.ns !== null && checkpoint.ns !== query.ns) return false
  if (query.checkpointId !== null && checkpoint.id !== query.checkpointId) return false
  if (Object.keys(query.filter ?? {}).length === 0) return true
  const metadata: unknown = JSON.parse(checkpoint.metadataJson)
  return contains(metadata, query.filter)
}

/** A checkpoint as savers take it. */
export function toTuple(read: ReadCheckpoint): StoredTuple {
  const { checkpoint } = read
  return {
    ns: checkpoint.ns,
    id: checkpoint.id,
    parentId: checkpoint.parentId,
    newest: read.newest,
    skeleton: checkpoint.skeletonJson,
    metadata: checkpoint.metadataJson,
    channels: read.view.stored(),
    writes: read.writes,
    deltaBytes: read.deltaBytes,
    fullBytes: read.fullBytes,
  }
}
