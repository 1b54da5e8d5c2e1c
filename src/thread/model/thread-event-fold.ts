/** The events of a thread that the records of its log stand for: the same now and later. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { checkpointMark } from '../../graph/index.ts'
import { memberOf, objectIn } from '../../json/index.ts'
import type { EventPlace } from './event-position.ts'
import type { FeedEntry } from './feed-entry.ts'
import { questionsIn } from './rest.ts'
import { idsIn, kwargsOf, planOf } from './run-request.ts'
import { nameOfHead, nameOfMade } from './thread-event-head.ts'
import type { ThreadEventHead } from './thread-event-head.ts'

type Payload<Case extends RecordOf['$case']> = Extract<RecordOf, { $case: Case }>['value']

/** The part of a run's row that its events need. */
export type RunOfEvents = Pick<RunRow, 'runId' | 'kwargsJson' | 'planJson' | 'started'>

/** A run that has not ended. */
interface KnownRun {
  readonly run: RunOfEvents
  readonly graphId: string
  started: boolean
  /** The place of its first event; undefined if that was before the first record. */
  begun?: EventPlace
}

/** The first free place of a row. */
const firstSlot = 1

/** Takes the records of a log in order, and says what each stands for. */
export class ThreadEventFold {
  readonly #runs: Map<string, KnownRun>
  #seq = 0
  #slot = firstSlot
  #retained: EventPlace | undefined
  #hasFinished: boolean

  /**
   * `runs`: those that are unfinished, or begin before the first record. `hasFinished`: a run has
   * ended before the first record.
   */
  constructor(runs: readonly RunOfEvents[], hasFinished: boolean) {
    this.#runs = new Map(runs.map((run) => [run.runId, known(run)]))
    this.#hasFinished = hasFinished
  }

  /** The next free place of the row that was taken last. */
  get slot(): number {
    return this.#slot
  }

  /** Start of the last finished run, if it is known: earlier events are not sent. */
  get retained(): EventPlace | undefined {
    return this.#retained
  }

  /** The events of records that were written together, or of a whole row. */
  take(records: readonly RecordOf[], seq: number): FeedEntry[] {
    if (seq !== this.#seq) {
      this.#seq = seq
      this.#slot = firstSlot
    }
    const marked = markedIn(records)
    return records.flatMap((record) => this.#record(record, marked))
  }

  #record(record: RecordOf, marked: ReadonlySet<string>): FeedEntry[] {
    switch (record.$case) {
      case 'runCreated':
        this.#runs.set(record.value.runId, known({ ...record.value, started: false }))
        return []
      case 'runStarted':
        return this.#started(record.value)
      case 'checkpoint':
        return record.value.ns === '' ? this.#checkpoint(record.value, marked) : []
      case 'emitted':
        return this.#emitted(record.value)
      case 'runEnded':
        return this.#ended(record.value)
      case 'headMoved':
        return this.#rolledBack(record.value)
      case 'threadDeleted':
        return this.#deleted(record.value)
      case 'runDeleted':
        this.#runs.delete(record.value.runId)
        return []
      default:
        return []
    }
  }

  /** A run that was deleted since, or rolled back. */
  #unknown(runId: string): KnownRun {
    const run = { runId, kwargsJson: '{}', planJson: '{"graphId":""}', started: false }
    this.#runs.set(runId, known(run))
    return this.#runs.get(runId)!
  }

  /** Takes `slots` places; the entries take the first of them, in order. */
  #placed(entries: readonly Unplaced[], slots: number): FeedEntry[] {
    const first = this.#slot
    this.#slot += slots
    return entries.map(({ offset, head, name, json, valuesOf = '' }, i) => ({
      place: { seq: this.#seq, index: first + (offset ?? i) },
      name: name ?? nameOfHead(head!),
      json: valuesOf === '' ? json ?? 'null' : undefined,
      valuesOf,
    }))
  }

  /** A run that continues after a crash is `running` again: half-streamed messages are void. */
  #started({ runId, atMs, attempt }: Payload<'runStarted'>): FeedEntry[] {
    const known = this.#runs.get(runId) ?? this.#unknown(runId)
    const entries: Unplaced[] = [{ head: { method: 'lifecycle', runId, atMs },
      json: JSON.stringify({ event: 'running', ...namedAs(known) }) }]
    const answered = attempt === 1 ? answeredBy(known.run) : []
    if (answered.length > 0) {
      entries.push({ head: { method: 'input.answered', runId, atMs },
        json: JSON.stringify({ interrupt_ids: answered }) })
    }
    if (!known.started) known.begun = { seq: this.#seq, index: this.#slot }
    known.started = true
    return this.#placed(entries, 2)
  }

  #checkpoint(checkpoint: Payload<'checkpoint'>, marked: ReadonlySet<string>): FeedEntry[] {
    const { id, parentId, runId, atMs } = checkpoint
    const { step = -1, source = 'loop' } = metadataOf(checkpoint)
    // That of an input has the state before it.
    if (marked.has(id) || source === 'input') return this.#placed([], 2)
    const json = JSON.stringify({ id, ...parentId !== '' && { parent_id: parentId }, step, source })
    return this.#placed(this.#statesOf(runId, atMs, id, json), 2)
  }

  /** A state as two events, the checkpoint before its values. */
  #statesOf(runId: string, atMs: number, checkpointId: string, json: JsonText,
    offset = 0): Unplaced[] {
    const graphId = this.#runs.get(runId)?.graphId ?? ''
    return [
      { offset, head: { method: 'checkpoints', runId, atMs }, json },
      { offset: offset + 1, head: { method: 'values', runId, atMs },
        valuesOf: stateName(checkpointId, graphId) },
    ]
  }

  #emitted({ runId, events, atMs = 0, threadSlots = 0 }: Payload<'emitted'>): FeedEntry[] {
    if (threadSlots === 0) return []
    const entries = events.flatMap(({ index: offset, name, json, valuesOf }): Unplaced[] => {
      if (name === checkpointMark) return this.#statesOf(runId, atMs, valuesOf, json, offset)
      return [{ offset, name: nameOfMade(name, runId, atMs), json }]
    })
    return this.#placed(entries, threadSlots)
  }

  /** A run that was handed back goes on later: that is no end. */
  #ended(ended: Payload<'runEnded'>): FeedEntry[] {
    const { runId, status, atMs, askers } = ended
    if (status === 'pending') return []
    const known = this.#runs.get(runId)
    this.#runs.delete(runId)
    const questions = questionsIn(ended) as readonly Question[]
    const last = lastState(ended, known?.graphId ?? '')
    const slots = last.length + questions.length + 1
    if (!ended.started && !known?.started) return this.#placed([], slots)
    // What a refused run leaves as it was is what the run before it asks.
    if (!ended.refused) {
      this.#retained = known?.begun
      this.#hasFinished = true
    }
    const asked = questions.map((question): Unplaced => ({
      head: { method: 'input.requested', runId, atMs,
        namespace: namespaceIn(askers?.namespaces, question) },
      json: questionData(question),
    }))
    const end: Unplaced = { head: { method: 'lifecycle', runId, atMs },
      json: JSON.stringify(endOf(ended, questions.length > 0, namedAs(known))) }
    return this.#placed([...last, ...asked, end], slots)
  }

  /** Runs that had started fail: their thread is gone. */
  #deleted({ atMs }: Payload<'threadDeleted'>): FeedEntry[] {
    const started = [...this.#runs.values()].filter((each) => each.started)
    this.#runs.clear()
    return this.#placed(started.map((each) => ({
      head: { method: 'lifecycle', runId: each.run.runId, atMs },
      json: JSON.stringify({ event: 'failed', error: 'The thread was deleted.', ...namedAs(each) }),
    })), started.length)
  }

  /** Events of a rollback: all that the dropped runs wrote is gone, so no values follow. */
  #rolledBack({ droppedRunIds, atMs }: Payload<'headMoved'>): FeedEntry[] {
    const entries = droppedRunIds.flatMap((runId, offset): Unplaced[] => {
      const known = this.#runs.get(runId)
      this.#runs.delete(runId)
      if (!known?.started) return []
      const json = JSON.stringify({ event: 'interrupted', ...namedAs(known),
        reason: 'rolled_back' })
      return [{ offset, head: { method: 'lifecycle', runId, atMs }, json }]
    })
    const placed = this.#placed(entries, droppedRunIds.length)
    if (!this.#hasFinished) this.#retained = { seq: this.#seq, index: this.#slot }
    return placed
  }
}

function known(run: RunOfEvents): KnownRun {
  return { run, graphId: planOf(run).graphId, started: run.started }
}

function namedAs(run: KnownRun | undefined): Record<string, unknown> {
  return run && run.graphId !== '' ? { graph_name: run.graphId } : {}
}

/** An event without its row. */
interface Unplaced {
  /** Among the places of its record. */
  readonly offset?: number
  readonly head?: ThreadEventHead
  /** In place of a head. */
  readonly name?: string
  readonly json?: JsonText
  readonly valuesOf?: string
}

/** A state that is named by an event. */
export interface NamedState {
  readonly checkpointId: string
  /** Empty if it is not known. */
  readonly graphId: string
  /** The run whose untracked values belong to the state; empty for none. */
  readonly endedRunId: string
}

/** Names a state: ids of checkpoints and runs have neither a slash nor a bar. */
function stateName(checkpointId: string, graphId: string, endedRunId = ''): string {
  return `${checkpointId}${endedRunId && `/${endedRunId}`}|${graphId}`
}

/** Reads the name of a state. */
export function stateOf(name: string): NamedState {
  const at = name.indexOf('|')
  const [checkpointId = '', endedRunId = ''] = name.slice(0, at).split('/')
  return { checkpointId, endedRunId, graphId: name.slice(at + 1) }
}

/** The state of a run at its end, if the events of its checkpoints lack values that it returns. */
function lastState({ runId, atMs, finalCheckpointId, untrackedJson }: Payload<'runEnded'>,
  graphId: string): readonly Unplaced[] {
  if (untrackedJson === undefined || finalCheckpointId === '') return []
  return [{ head: { method: 'values', runId, atMs },
    valuesOf: stateName(finalCheckpointId, graphId, runId) }]
}

/** Checkpoints whose events stand in order among others that were written with them. */
function markedIn(records: readonly RecordOf[]): ReadonlySet<string> {
  const marked = new Set<string>()
  for (const { $case, value } of records) {
    if ($case !== 'emitted' || !value.threadSlots) continue
    for (const { name, valuesOf } of value.events) if (name === checkpointMark) marked.add(valuesOf)
  }
  return marked
}

function metadataOf({ metadataJson }: Payload<'checkpoint'>): { step?: number; source?: string } {
  return JSON.parse(metadataJson || '{}') as { step?: number; source?: string }
}

/** The interrupts that a run answers by their ids; none if it answers without ids. */
function answeredBy(run: RunOfEvents): readonly string[] {
  // A look at the text spares most runs the parsing.
  if (!run.kwargsJson.includes('"resume"')) return []
  return idsIn(memberOf(kwargsOf(run, planOf(run))['command'], 'resume')) ?? []
}

/** The graph that asked. Records of earlier versions name none: the root then. */
function namespaceIn(askers: Readonly<Record<string, string>> | undefined,
  { id = '' }: Question): readonly string[] {
  const ns = askers && Object.hasOwn(askers, id) ? askers[id]! : ''
  return ns === '' ? [] : ns.split('|')
}

/** The `data` of an `input.requested` event. */
function questionData({ id, value = null, response_schema: schema }: Question): JsonText {
  // Python reads `value`.
  return JSON.stringify({ interrupt_id: id, payload: value, value,
    ...schema !== undefined && { response_schema: schema } })
}

interface Question {
  readonly id?: string
  readonly value?: unknown
  readonly response_schema?: unknown
}

/** The `data` of the root `lifecycle` event that ends a run. */
function endOf(ended: Payload<'runEnded'>, asks: boolean,
  named: Record<string, unknown>): Record<string, unknown> {
  const { status, waiting, errorJson, cancelReason = 'cancelled' } = ended
  if (status === 'success' && !waiting) return { event: 'completed', ...named }
  if (status === 'success') {
    return { event: 'interrupted', ...named, ...!asks && { reason: 'breakpoint' } }
  }
  if (status === 'interrupted') {
    return { event: 'interrupted', ...named, reason: cancelReason.split(':', 1)[0] }
  }
  const { error, message, ...details } = objectIn(errorJson || '{}')
  return { event: 'failed', ...named, ...details, error: message || error || status }
}
