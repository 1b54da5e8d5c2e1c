/** Threads as values, and decisions as lines of text that tests compare. */

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import type { Decision, Situation } from '../../../../src/thread/decide/decision.ts'
import { createdRecord } from '../../../../src/thread/decide/thread-records.ts'
import { admissionRecords, startedRecord } from '../../../../src/thread/model/run-records.ts'
import type { StartRun } from '../../../../src/thread/model/thread-client.ts'
import { apply, unborn } from '../../../../src/thread/model/thread-state.ts'
import type { ThreadState } from '../../../../src/thread/model/thread-state.ts'
import { aRun } from '../../../support/thread-house.ts'

/** The time of every decision. */
export const nowMs = 1_000

/** The row that every decision is written in. */
export const position = { epoch: 1, seq: 7 }

const before = { epoch: 1, seq: 6 }

const branch = { id: 'b', ancestors: [] }

/** A thread that was created, with what these records did to it. */
export function thread(...records: readonly RecordOf[]): ThreadState {
  const state = unborn('t', 'x', branch)
  return [createdRecord('x', '{}', 0), ...records]
    .reduce((after, record) => apply(after, record, before), state)
}

/** The thread of a stateless run. */
export function hiddenThread(...records: readonly RecordOf[]): ThreadState {
  const made = createdRecord('x', '{}', 0, { hidden: true })
  return [made, ...records].reduce((after, record) => apply(after, record, before),
    unborn('t', 'x', branch))
}

/** A thread that does not exist. */
export const missing = unborn('t', 'x', branch)

/** A run waits on the thread. */
export function queued(runId: string, run: Partial<StartRun> = {}): RecordOf[] {
  const records = admissionRecords(aRun(runId, run), missing.row, 0)
  return records.filter(({ $case }) => $case === 'runCreated')
}

/** A run waits on the thread, and then runs. */
export function running(runId: string, run: Partial<StartRun> = {}, attempt = 1): RecordOf[] {
  return [...queued(runId, run),
    startedRecord({ runId, attempt, baseCheckpointId: '', ownerDeaths: 0, suspect: false } as never,
      0)]
}

/** The root checkpoint that a run wrote. */
export function checkpoint(id: string, runId: string): RecordOf {
  return { $case: 'checkpoint',
    value: { ns: '', id, parentId: '', full: true, changes: [], skeletonJson: '{}',
      metadataJson: '{}', runId, atMs: 0 } }
}

/** Nothing happens on the thread but what `more` says. */
export function situation(state: ThreadState, more: Partial<Situation> = {}): Situation {
  return { state, position, work: undefined, suspect: undefined, isResting: false, ...more }
}

/** The run is executed; it was handed to a worker. */
export function executing(state: ThreadState, runId: string,
  more: Partial<Situation> = {}): Situation {
  const run = state.runs.find((each) => each.runId === runId)!
  return situation(state, { work: { kind: 'run', run, begun: true }, ...more })
}

/** What a decision writes, does and answers, a line each. */
export function transcript({ records, places, urgency, effects, reply }: Decision): string[] {
  return [
    ...records.map((record) => `write ${line(record)}`),
    ...places.map(({ id, seq }) => `place ${id} → ${seq}`),
    ...records.length > 0 ? [urgency] : [],
    ...effects.map(({ kind, ...more }) => [kind, ...namesIn(more)].join(' ')),
    ...reply.kind === 'nothing' ? [] : [`reply ${reply.kind}`],
  ]
}

function line({ $case, value }: RecordOf): string {
  const { runId, status, attempt, checkpointId, commandId, delivered } = value as unknown as Record<
    string,
    unknown
  >
  const shown = { runId, status, attempt: attempt || undefined, checkpointId, commandId, delivered }
  return [$case, ...Object.values(shown).filter((each) => each !== undefined && each !== '')]
    .join(' ')
}

/** What an effect names: a run, events, numbers and flags. */
function namesIn(more: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(more).flatMap(([name, value]) => {
    if (typeof value === 'string') return [value]
    if (typeof value === 'number') return [`${name}=${value}`]
    if (typeof value === 'boolean') return value ? [name] : []
    if (name === 'run') return [(value as { readonly runId: string }).runId]
    if (name !== 'entries') return []
    return (value as { readonly name: string }[]).map((entry) => entry.name)
  })
}
