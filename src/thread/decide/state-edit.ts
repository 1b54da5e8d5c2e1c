/** Edits of a thread's state outside a run: what is asked for, written and answered. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf, JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSelector, EditUpdate, ExecutionOutcome, LossReason,
  Step } from '../../graph/index.ts'
import type { CreateThread, StateUpdate } from '../model/thread-client.ts'
import { isBusy } from '../model/waiting-message.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { waitingPlace } from './finish-run.ts'
import { stepRecords } from './steps.ts'
import { createdRecord, timeToLiveFrom } from './thread-records.ts'

/** An edit as it waits for its turn. */
export interface Edit {
  readonly graphId: string
  readonly supersteps: readonly (readonly EditUpdate[])[]
  readonly checkpoint: CheckpointSelector | null
  /** Written before the edit in the same row: the creation of a thread with a first state. */
  readonly before: readonly RecordOf[]
  /** Written after it in the same row: marks the command as done. */
  readonly note: readonly RecordOf[]
  /** The run between whose supersteps messages are added; missing for edits of clients. */
  readonly taker?: MessageTaker
}

/** A run that takes messages, each of which was a run that waited. */
export interface MessageTaker {
  readonly run: RunRow
  readonly taken: readonly RunRow[]
  readonly messagesJson: JsonText
}

/** The edit that an update asks for. Throws `busy`, or `invalid` for a thread without a graph. */
export function decideUpdate({ state }: Pick<Situation, 'state'>,
  { update, checkpoint }: StateUpdate, note: readonly RecordOf[]): Edit {
  if (isBusy(state)) {
    throw new HeddleError('busy', 'Thread is busy; update its state when its runs are done.')
  }
  const { graphId, row: { threadId } } = state
  if (graphId === '') {
    throw new HeddleError('invalid',
      `Thread ${threadId} has no graph yet: run it or create it with a graph_id.`)
  }
  return { graphId, supersteps: [[update]], checkpoint, before: [], note }
}

/** The edit that makes a thread with a first state. Throws `invalid` if no graph is named. */
export function decideFirstState(
  { threadId, metadata, supersteps, timeToLive: options }: CreateThread,
  { note, hasGraph }: { readonly note: readonly RecordOf[];
    readonly hasGraph: (graphId: string) => boolean },
  nowMs: number,
): Edit {
  const { graph_id: graphId } = metadata
  if (typeof graphId !== 'string' || !hasGraph(graphId)) {
    throw new HeddleError('invalid',
      'A thread with supersteps needs metadata.graph_id to name a graph of the project.')
  }
  const timeToLive = timeToLiveFrom(options, nowMs)
  const before = [createdRecord(threadId, JSON.stringify(metadata), nowMs, { timeToLive })]
  return { graphId, supersteps, checkpoint: null, before, note }
}

/** Result of an edit, as the graph worked it out. */
export interface EditedState {
  readonly edit: Edit
  readonly steps: readonly Step[]
  readonly outcome: Pick<ExecutionOutcome, 'waiting' | 'interrupts' | 'waitsAt'>
  /** The revision of the deployment that worked it out; undefined for the server's project. */
  readonly revision?: string | undefined
}

/** Writes an edit that the graph has worked out. */
export function decideEdited(at: Situation, { edit, steps, outcome, revision }: EditedState,
  nowMs: number): Decision {
  // The edit is no work any more: its owners may end.
  const draft = new Draft({ ...at, work: undefined }, nowMs)
  // A thread that is created with a state is idle, whatever is left to do (specification §3.3).
  const waiting = outcome.waiting && edit.before.length === 0
  draft.write([
    ...edit.before,
    // What a run took is its own: a rollback drops it.
    ...stepRecords(steps, edit.taker?.run.runId ?? '', nowMs),
    { $case: 'stateEdited',
      value: { atMs: nowMs, waiting, interruptsJson: outcome.interrupts,
        ...waitingPlace(revision, outcome.waitsAt) } },
    ...edit.note,
  ])
  for (const { runId } of edit.taker?.taken ?? []) draft.effect({ kind: 'endTaken', runId })
  draft.effect({ kind: 'forgetExecution' })
  return draft.decided({ kind: 'done' })
}

/** Error of an edit whose execution ended without success. */
export function failedEdit({ error }: Pick<ExecutionOutcome, 'error'>): HeddleError {
  return new HeddleError(error ? 'graph_failed' : 'unavailable',
    error?.message ?? 'The state update was cut short; try again.')
}

/** Error of an edit whose worker was lost. */
export function lostEdit(reason: LossReason): HeddleError {
  return reason === 'full'
    ? new HeddleError('graph_failed', 'The update filled the memory of its worker.')
    : new HeddleError('unavailable',
      'The worker was lost while it updated the state; nothing was changed.')
}

/** Error of an edit that took longer than it may. */
export const slowEdit = (): HeddleError =>
  new HeddleError('graph_failed',
    'The graph took too long to update the state; nothing was changed.')

/** The newest checkpoint among records. */
export function newestCheckpoint(records: readonly RecordOf[]): string | undefined {
  const last = records.findLast((record) => record.$case === 'checkpoint')
  return last?.$case === 'checkpoint' ? last.value.id : undefined
}

/** The checkpoint that an edit led to. */
export interface EditedPlace {
  readonly threadId: string
  readonly selector: CheckpointSelector | null
  /** Null if there is none. */
  readonly id: string | null
}

/** The API's answer to an edit. */
export function editAnswer({ threadId, selector, id }: EditedPlace): JsonText {
  const checkpoint = { thread_id: threadId, checkpoint_ns: selector?.checkpointNs ?? '',
    checkpoint_id: id }
  return JSON.stringify({ checkpoint, configurable: checkpoint, checkpoint_id: id })
}
