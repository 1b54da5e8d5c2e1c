/** Reads checkpoints back from a thread's log: one by id, or a page of history. */

import type { Branch, CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import type { LogEntry, LogPort } from './log-port.ts'
import type { CheckpointSource, StoredTuple, TupleQuery } from './tuple.ts'
import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'
import { decodeRow } from './row-codec.ts'
import { rowsOf } from './log-rows.ts'
import type { RowsOptions } from './log-rows.ts'
import { ChannelView, changesBytes, stepBytes, writesBytes } from './channel-view.ts'
import { History, writesIn } from './history.ts'
import type { Named } from './history.ts'
import { lateWritesOf, newestOf } from './place-name.ts'
import { contains } from '../containment.ts'
import { HeddleError } from '../errors.ts'
import type { ReadAllowance } from '../read-quota.ts'

/** What the reader must know of the thread at the moment of the call. */
export interface LogHead {
  readonly branch: Branch
  /** The newest row. */
  readonly seq: number
  /** The newest row that says anything about checkpoints. */
  readonly stepSeq: number
  readonly head: CheckpointPlace | null
  /** The head is not the newest checkpoint in the log. */
  readonly movedBack: boolean
}

/** A checkpoint as it is in the log, and the writes on it. */
interface Entry {
  readonly checkpoint: Checkpoint
  readonly writes: readonly Writes[]
}

/** A checkpoint with the state it stands for. */
export interface ReadCheckpoint extends Entry {
  readonly view: ChannelView
  readonly newest: boolean
  readonly deltaBytes: number
  readonly fullBytes: number
}

/** Rows that are read at once for a state: few states are made of more. */
const rowsOfState = 256

/**
 * A checkpoint's state is found from its nearest full ancestor: the rows between are read once,
 * and only the changes on its own line of ancestors count, so that rows of abandoned lines in
 * between do no harm.
 */
export class CheckpointReader implements CheckpointSource {
  readonly #log: LogPort
  readonly #head: () => LogHead
  readonly #allowance: ReadAllowance | undefined

  /** Keeps no more than the allowance lets it: throws `too_large` as that does. */
  constructor(log: LogPort, head: () => LogHead, allowance?: ReadAllowance) {
    this.#log = log
    this.#head = head
    this.#allowance = allowance
  }

  /** A reader of the same log that keeps no more than so much. */
  within(allowance: ReadAllowance): CheckpointReader {
    return new CheckpointReader(this.#log, this.#head, allowance)
  }

  async tuple(ns: string, checkpointId: string | null): Promise<StoredTuple | undefined> {
    const found = await this.checkpoint(ns, checkpointId)
    return found && toTuple(found)
  }

  async list(query: TupleQuery): Promise<StoredTuple[]> {
    return (await this.page(query)).map(toTuple)
  }

  /** As `page`; counts each state as a whole, for readers that take the states apart. */
  async separately(query: TupleQuery): Promise<ReadCheckpoint[]> {
    const page = await this.page(query)
    for (const { deltaBytes, fullBytes } of page) this.#allowance?.keep(deltaBytes + fullBytes)
    return page
  }

  /** As `tuple`, with the state as a view. */
  async checkpoint(ns: string, checkpointId: string | null): Promise<ReadCheckpoint | undefined> {
    const now = this.#head()
    const place = await this.#place(now, ns, checkpointId)
    if (!place) return undefined
    const { seq } = place
    const state = this.#stateAt(now, place, ns, checkpointId)
    // State and writes are read together, unless only the state tells which checkpoint it is.
    const known = checkpointId ?? (ns === '' ? place.id : undefined)
    const id = known ?? (await state)?.checkpoint.id
    if (id === undefined) return undefined
    const isHead = ns === '' && now.head?.id === id
    const newest = (checkpointId === null || isHead) && !(ns === '' && now.movedBack)
    const writes = this.#writes(now, { ns, id, seq }, isHead && newest)
    const [found, all] = await Promise.all([state, writes])
    return found && { ...found, newest, writes: all }
  }

  /** Whether the checkpoint is part of history: one row is read for that. */
  async has(ns: string, id: string): Promise<boolean> {
    const now = this.#head()
    const place = await this.#place(now, ns, id)
    if (!place) return false
    const [row] = await this.#log.read(now.branch, { from: place.seq, through: place.seq })
    return row !== undefined && decodeRow(row.body).some((record) =>
      record.$case === 'checkpoint' && belongs(record, { ns, id }))
  }

  /** The state alone, without the writes on it. */
  async view(ns: string, checkpointId: string): Promise<ChannelView | undefined> {
    return (await this.#found(this.#head(), ns, checkpointId))?.view
  }

  async #found(now: LogHead, ns: string, checkpointId: string): Promise<FoundState | undefined> {
    const place = await this.#place(now, ns, checkpointId)
    return place && await this.#stateAt(now, place, ns, checkpointId)
  }

  async #stateAt(now: LogHead, place: CheckpointPlace, ns: string, checkpointId: string | null):
    Promise<FoundState | undefined> {
    const line = new CheckpointLine(ns)
    const rows = this.#rows(now, { from: place.base, through: place.seq, first: rowsOfState })
    for await (const { body } of rows) {
      const bytes = line.add(decodeRow(body))
      this.#allowance?.keep(bytes)
    }
    const id = checkpointId ?? (ns === '' ? place.id : line.newestId)
    const checkpoint = line.get(id)
    return checkpoint && { ...line.state(checkpoint), checkpoint }
  }

  /** A page of history, newest first, without what rollbacks dropped. */
  async page(query: TupleQuery): Promise<ReadCheckpoint[]> {
    const now = this.#head()
    const limit = query.limit ?? Number.POSITIVE_INFINITY
    const before = query.before === null ? undefined
      : await this.#place(now, query.ns ?? '', query.before)
    const page: Checkpoint[] = []
    const history = new History()
    const read = async () => this.#withStates(now, await Promise.all(page.map(
      async (checkpoint) => ({ checkpoint, writes: [
        ...history.writesOf(checkpoint),
        ...before ? await this.#lateWrites(now, checkpoint, before.seq) : [],
      ] }))))
    let waiting = before ? query.before : null
    const through = before?.seq ?? now.stepSeq
    for await (const { body } of this.#rows(now, { from: 1, through, reverse: true })) {
      for (const record of decodeRow(body).reverse()) {
        const checkpoint = history.back(record)
        if (!checkpoint) continue
        if (waiting !== null) {
          if (checkpoint.id === waiting) waiting = null
          history.forget(checkpoint)
          continue
        }
        // A `before` that is not in this log: older checkpoints have smaller ids.
        if (!before && query.before !== null && checkpoint.id >= query.before) {
          history.forget(checkpoint)
          continue
        }
        // Not sooner: writes may come before their checkpoint, if the run is saved at its end.
        if (page.length >= limit && ends(checkpoint, page.at(-1)!)) return read()
        if (page.length < limit && matches(checkpoint, query)) {
          page.push(checkpoint)
          this.#allowance?.keep(bytesOf(checkpoint))
        } else {
          history.forget(checkpoint)
        }
      }
      this.#allowance?.keep(history.newlyKept())
    }
    return read()
  }

  /** Undefined also for one that a rollback dropped. */
  async #place(now: LogHead, ns: string, id: string | null): Promise<CheckpointPlace | undefined> {
    const isHead = ns === '' && (id === null || id === now.head?.id)
    const place = isHead ? now.head
      : await this.#log.findCheckpoint(now.branch, id ?? newestOf(ns))
    return place && place.seq > 0 ? place : undefined
  }

  #rows({ branch }: LogHead, range: Omit<RowsOptions, 'log' | 'branch'>): AsyncIterable<LogEntry> {
    const bodyBytes = this.#allowance && Math.max(0, this.#allowance.left)
    return rowsOf({ log: this.#log, branch, ...range, ...bodyBytes !== undefined && { bodyBytes } })
  }

  /** Adds the states, oldest first: each is built on its parent's if that is on the page. */
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
      read.push({ checkpoint, writes, newest, ...state })
    }
    return read.reverse()
  }

  /**
   * The writes in the span of a checkpoint: from its row to the next checkpoint of its namespace or
   * of the root. Writes that came later, as a fork's do, are found by name.
   */
  async #writes(now: LogHead, of: Named & { readonly seq: number }, isNewestHead: boolean):
    Promise<Writes[]> {
    const near = this.#writesFrom(now, of, of.seq)
    const late = isNewestHead ? [] : this.#lateWrites(now, of, near.then(({ through }) => through))
    const [{ writes }, more] = await Promise.all([near, late])
    return [...writes, ...more]
  }

  /** Those that came after the span; rows up to `known` belong to it. */
  async #lateWrites(now: LogHead, of: Named, known: number | Promise<number>):
    Promise<readonly Writes[]> {
    const find = (beforeSeq?: number) =>
      this.#log.findCheckpoint(now.branch, lateWritesOf(of.id, beforeSeq))
    let [late, through] = await Promise.all([find(), known])
    const begins: number[] = []
    for (; late && late.seq > through; late = await find(late.seq)) begins.push(late.seq)
    const writes: Writes[] = []
    for (const seq of begins.reverse()) {
      // Read already: a rollback dropped what stood in between.
      if (seq <= through) continue
      const stretch = await this.#writesFrom(now, of, seq)
      for (const each of stretch.writes) writes.push(each)
      through = stretch.through
    }
    return writes
  }

  /** The writes from a row to the end of the span, and the last row that was read. */
  async #writesFrom(now: LogHead, of: Named, from: number):
    Promise<{ writes: readonly Writes[]; through: number }> {
    const span: RecordOf[] = []
    for (let at = from; ;) {
      const { through, next } = await this.#readOn(now, of, at, span)
      const back = next && await this.#takenBack(now, next)
      if (back === undefined) return { writes: writesIn(span, of), through }
      // The rollback in row `back` dropped the checkpoint that ended the span: it goes on there.
      at = Math.max(back, through + 1)
    }
  }

  /**
   * Adds to `span` the records that tell which run wrote what, up to the checkpoint that ends it:
   * that is `next` if another run put it, so that a rollback may have dropped it.
   */
  async #readOn(now: LogHead, of: Named, from: number, span: RecordOf[]):
    Promise<{ through: number; next: Checkpoint | undefined }> {
    let begun = span.length > 0
    let run: string | undefined
    for await (const { seq, body } of this.#rows(now, { from, through: now.stepSeq })) {
      for (const record of decodeRow(body)) {
        if (belongs(record, of)) {
          begun = true
          if (record.$case === 'checkpoint') run = record.value.runId
        } else if (begun && record.$case === 'checkpoint' && ends(record.value, of)) {
          return { through: seq, next: record.value.runId === run ? undefined : record.value }
        }
        const part = partOf(record, of)
        if (!part) continue
        span.push(part)
        if (part.$case === 'writes') this.#allowance?.keep(writesBytes(part.value.writes))
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

function bytesOf({ changes, skeletonJson, metadataJson }: Checkpoint): number {
  return changesBytes(changes) + skeletonJson.length + metadataJson.length
}

/** The part of a record that tells which run wrote it: the rest of a long step may be large. */
function partOf(record: RecordOf, of: Named): RecordOf | undefined {
  switch (record.$case) {
    case 'headMoved': case 'runStarted': case 'runEnded': case 'stateEdited': return record
    case 'writes': return belongs(record, of) ? record : undefined
    case 'checkpoint': {
      const value = { ...record.value, changes: [], skeletonJson: '', metadataJson: '' }
      return { $case: 'checkpoint', value }
    }
    default: return undefined
  }
}

function belongs(record: RecordOf, { ns, id }: Named): boolean {
  if (record.$case === 'checkpoint') return record.value.ns === ns && record.value.id === id
  return record.$case === 'writes' && record.value.ns === ns && record.value.checkpointId === id
}

/** Whether a checkpoint ends the span of those before it in a namespace. */
function ends(next: Checkpoint, of: { ns: string }): boolean {
  return next.ns === of.ns || next.ns === ''
}

interface FoundState extends LineState {
  readonly checkpoint: Checkpoint
}

interface LineState {
  readonly view: ChannelView
  readonly deltaBytes: number
  readonly fullBytes: number
}

function step(before: LineState | undefined, checkpoint: Checkpoint): LineState {
  const { changes, full } = checkpoint
  return {
    view: (before?.view ?? ChannelView.empty).apply(changes, full),
    deltaBytes: full ? 0 : (before?.deltaBytes ?? 0) + stepBytes(changes),
    fullBytes: full ? changesBytes(changes) : before?.fullBytes ?? 0,
  }
}

/** The checkpoints of one namespace, by id. */
class CheckpointLine {
  readonly #checkpoints = new Map<string, Checkpoint>()
  readonly #ns: string
  newestId = ''

  constructor(ns: string) {
    this.#ns = ns
  }

  /** Returns the bytes that it keeps of them. */
  add(records: readonly RecordOf[]): number {
    let bytes = 0
    for (const record of records) {
      if (record.$case !== 'checkpoint' || record.value.ns !== this.#ns) continue
      this.#checkpoints.set(record.value.id, record.value)
      this.newestId = record.value.id
      bytes += bytesOf(record.value)
    }
    return bytes
  }

  get(id: string): Checkpoint | undefined {
    return this.#checkpoints.get(id)
  }

  /** The state at a checkpoint: its nearest full ancestor, then every change down to it. */
  state(checkpoint: Checkpoint): LineState {
    const line: Checkpoint[] = []
    let at: Checkpoint | undefined = checkpoint
    while (at) {
      // An id that was used twice may lead back to itself.
      if (line.length > this.#checkpoints.size) throw endless()
      line.push(at)
      at = at.full ? undefined : this.#checkpoints.get(at.parentId)
    }
    return line.reduceRight<LineState | undefined>(step, undefined)!
  }
}

function endless(): HeddleError {
  return new HeddleError('graph_failed', 'Checkpoints of this thread name each other as parents: ' +
    'its state cannot be read.')
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
