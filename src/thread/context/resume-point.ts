/** Rests of a run in the log: its events, and the state from which an attempt resumes. */

import type { Branch, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { decodeRow, rowsOf } from '../../checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../checkpoint/index.ts'
import { askedIn } from '../../graph/index.ts'
import { errorEntry, metadataEntry } from '../model/feed-entry.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import { ReplayFilter } from '../log/replay-filter.ts'
import { isAfter } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import { forkOf, kwargsOf, noResumePoint, planOf } from '../model/run-request.ts'
import type { ResumePoint } from '../model/run-request.ts'
import type { ThreadContext } from './thread-context.ts'

/** A thread's log, up to a row. */
export interface LogSpan {
  readonly log: Pick<LogPort, 'read'>
  readonly branch: Branch
  readonly through: number
}

/**
 * For a run that is resumed: whether it wrote anything, and its events and interrupts since the
 * last root checkpoint, for the engine may repeat those.
 */
export async function resumePointOf(run: RunRow, span: LogSpan): Promise<ResumePoint> {
  const { runId, firstSeq, baseCheckpointId } = run
  const fork = forkOf({ kwargs: kwargsOf(run, planOf(run)) })
  let begun: ResumePoint = noResumePoint
  // Writes alone count only on the head: on any other checkpoint the run does not use them again.
  const isOnHead = baseCheckpointId !== '' && fork === null
  let wrote = false
  // Read backwards: however long a run is, few rows stand behind its last root checkpoint.
  const emitted = new ReplayFilter()
  let asked: string[] | null = null
  let decided = false
  const resumePoint = () => ({ wrote, asked, emitted: emitted.events(), ...decided && { decided } })
  for await (const record of recordsBack(span, firstSeq)) {
    wrote ||= isOnHead && record.$case === 'writes' && record.value.effect === undefined
    const questions = record.$case === 'writes' ? askedIn(record.value) : null
    if (questions) asked = [...asked ?? [], ...questions]
    decided ||= isDecisionOf(runId, record)
    if ('runId' in record.value && record.value.runId !== runId) continue
    if (isOfThread(record)) continue
    emitted.see(record)
    const isRoot = record.$case === 'checkpoint' && record.value.ns === ''
    wrote ||= isRoot || (isOnHead && record.$case === 'checkpoint')
    // The step is done: no interrupt is left that an answer without an id could go to.
    if (isRoot) return { ...resumePoint(), asked: asked ?? [] }
    // Its first row may begin with the last writes of the run before it: those do not count.
    if (record.$case === 'runStarted') begun = resumePoint()
  }
  return begun
}

/** The resume point at the row `onDisk`; without one, once all that was written is on disk. */
export async function resumePointOnDisk(run: RunRow, { ports: { log }, threadLog }: ThreadContext,
  onDisk: number | undefined): Promise<ResumePoint> {
  const { branch, seq } = threadLog.state.row
  if (onDisk === undefined) await threadLog.durable
  return await resumePointOf(run, { log, branch: branch!, through: onDisk ?? seq })
}

/** The durable events of a run after one place and up to another, as its feed sent them. */
export async function* eventsOf(run: RunRow, span: LogSpan,
  bounds: { after: EventPlace; through: EventPlace }): AsyncGenerator<FeedEntry> {
  const from = Math.max(run.firstSeq, bounds.after.seq)
  for await (const { record, seq } of recordsOf(run, span, from)) {
    for (const entry of entriesOf(record, run.runId, seq)) {
      const asked = isAfter(entry.place, bounds.after) && !isAfter(entry.place, bounds.through)
      if (asked) yield entry
    }
  }
}

/** The events that a record stands for. */
function entriesOf(record: RecordOf, runId: string, seq: number): FeedEntry[] {
  if (record.$case === 'runStarted' && record.value.runId === runId) {
    return [metadataEntry(runId, record.value.attempt, seq)]
  }
  if (record.$case === 'runEnded' && record.value.runId === runId && record.value.errorJson) {
    return [errorEntry(record.value.errorJson, seq)]
  }
  if (record.$case !== 'emitted' || record.value.runId !== runId || isOfThread(record)) return []
  return record.value.events.map(({ index, name, json, valuesOf }) => ({
    place: { seq, index },
    name,
    json: valuesOf === '' ? json : undefined,
    valuesOf,
  }))
}

/** True for a decision about an effect, made by the resume value of the run. */
function isDecisionOf(runId: string, record: RecordOf): boolean {
  const note = record.$case === 'writes' ? record.value.effect?.note : undefined
  return note?.$case === 'decided' && note.value.runId === runId
}

/** Events of the thread: nothing of the run's own. */
function isOfThread(record: RecordOf): boolean {
  return record.$case === 'emitted' && record.value.threadSlots !== undefined
}

/** Few: mostly the last root checkpoint is close to the end. */
const rowsFirst = 16

/** The records of the rows from `from` on, newest first. */
async function* recordsBack(span: LogSpan, from: number): AsyncGenerator<RecordOf> {
  for await (const { body } of rowsOf({ ...span, from, reverse: true, first: rowsFirst })) {
    yield* decodeRow(body).toReversed()
  }
}

/** The records of a run's rows from `from` on, oldest first. */
export async function* recordsOf(run: RunRow, span: LogSpan,
  from: number): AsyncGenerator<{ record: RecordOf; seq: number }> {
  const hasEnded = run.status !== 'running' && run.status !== 'pending'
  const through = hasEnded ? run.lastSeq : span.through
  for await (const { body, seq } of rowsOf({ ...span, from, through })) {
    for (const record of decodeRow(body)) yield { record, seq }
  }
}
