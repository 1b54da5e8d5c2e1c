/** A thread's state as a value: what applying the records of its log makes of it. Pure. */

import type { PushConfigs } from '../../../proto/gen/storage/v1/push.ts'
import type { Branch, CheckpointPatch, CheckpointPlace, AppliedCommand, RunRow,
  ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { withApplied } from '../../owned-row/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { assert } from '../../errors.ts'
import { objectIn, textAt, valueIn } from '../../json/index.ts'
import type { RunStatus } from '../../search/index.ts'
import type { Origin } from './command.ts'
import { runOfKey } from './owed-key.ts'
import { withRemovedKeys } from './removed-keys.ts'
import { restAfterEdit, restAfterRun, restAfterWrites, restAtCheckpoint, restOf,
  withRest } from './rest.ts'
import { newRun, unfinishedOf } from './unfinished-run.ts'
import { activeRuns } from './waiting-message.ts'

/** A thread as its log says. */
export interface ThreadState {
  readonly row: ThreadRow
  /** False before it is created and after it is deleted. */
  readonly exists: boolean
  /** Pending and running runs, oldest first; at most one of them is running. */
  readonly runs: readonly RunRow[]
  /** `metadata.graph_id`: the graph that gives the state its meaning. Empty for none. */
  readonly graphId: string
  /** The newest commands that changed anything, oldest first. A rollback removes none. */
  readonly applied: readonly AppliedCommand[]
}

/** A thread of which the log knows nothing yet. */
export function unborn(tenant: string, threadId: string, branch: Branch): ThreadState {
  return {
    exists: false,
    runs: [],
    graphId: '',
    applied: [],
    row: {
      tenant,
      threadId,
      branch,
      epoch: 0,
      seq: branch.ancestors.at(-1)?.through ?? 0,
      createdAtMs: 0,
      updatedAtMs: 0,
      stateUpdatedAtMs: 0,
      status: 'idle',
      metadataJson: '{}',
      configJson: '{}',
      errorJson: '',
      interruptsJson: '{}',
      head: undefined,
      hidden: false,
      movedBack: false,
      deleted: false,
      resting: 'idle',
      stepSeq: 0,
      unfinished: [],
      applied: [],
      owedWebhooks: [],
      storedBytes: 0,
      // Rows with the same members are copied in a third of the time.
      waitingAt: undefined,
      waits: undefined,
      restBefore: undefined,
    },
  }
}

/** A thread from its row and the runs that it names as unfinished. */
export function fromRow(row: ThreadRow, runs: readonly RunRow[]): ThreadState {
  const { applied, ...rest } = withRest(row, runs)
  return withStatus({ row: { ...rest, applied: [] }, exists: !row.deleted, runs, applied,
    graphId: graphIdOf(row.metadataJson) })
}

/** The row as it is stored. `storedBytes` are those of the log up to it. */
export function rowOf({ row, runs, applied }: ThreadState, storedBytes: number): ThreadRow {
  return { ...row, unfinished: runs.map(unfinishedOf), applied: [...applied], storedBytes }
}

function graphIdOf(metadataJson: string): string {
  return textAt(valueIn(metadataJson), 'graph_id') ?? ''
}

/** A copy before its first row: the state of its origin, on a branch of its own. */
export function fromOrigin(to: { tenant: string; threadId: string; branchId: string },
  origin: Origin): ThreadState {
  const { branch: { id, ancestors }, through, epoch } = origin
  const branch = { id: to.branchId, ancestors: [...ancestors, { id, through }] }
  const empty = unborn(to.tenant, to.threadId, branch)
  return withRow(empty, {
    epoch,
    configJson: configOf(to.threadId, origin),
    head: origin.head ?? undefined,
    movedBack: origin.movedBack,
    ...origin.shown,
    stepSeq: through,
    storedBytes: origin.storedBytes ?? 0,
  })
}

/** The copy's configuration names the copy. */
function configOf(threadId: string, { configJson }: Origin): string {
  const config = objectIn(configJson)
  if (config['configurable'] === undefined) return configJson
  return JSON.stringify({ ...config,
    configurable: { ...config.configurable, thread_id: threadId } })
}

/** The position of a record in the log. */
export interface RecordPosition {
  readonly epoch: number
  readonly seq: number
}

/** The state after a record. Records that say nothing about the thread leave it as it is. */
export function apply(state: ThreadState, record: RecordOf, at: RecordPosition): ThreadState {
  const next = withStatus(withRemovedKeys(state, changed(state, record, at), record))
  const stepSeq = concernsSteps(record) ? at.seq : next.row.stepSeq
  return { ...next, row: { ...next.row, stepSeq, epoch: at.epoch, seq: at.seq } }
}

function withStatus(state: ThreadState): ThreadState {
  const { row } = state
  const status = activeRuns(state).length > 0 ? 'busy' : row.resting
  return status === row.status ? state : { ...state, row: { ...row, status } }
}

/** True for records of checkpoints, of writes on them, and of moves of the head. */
export function concernsSteps({ $case }: RecordOf): boolean {
  return $case === 'checkpoint' || $case === 'writes' || $case === 'headMoved'
}

function changed(state: ThreadState, record: RecordOf, at: RecordPosition): ThreadState {
  switch (record.$case) {
    case 'threadCreated':
      return created(state, record.value)
    case 'threadPatched': {
      const { atMs, metadataJson, configJson, timeToLive, shown } = record.value
      const patched = withRow(state, { updatedAtMs: atMs, metadataJson, configJson,
        ...timeToLive && { timeToLive }, ...shown && { hidden: false } })
      return { ...patched, graphId: graphIdOf(metadataJson) }
    }
    case 'threadDeleted':
      return {
        ...withRow(state, { hidden: true, deleted: true, owedWebhooks: [], push: undefined }),
        exists: false,
        runs: [],
      }
    case 'runCreated':
      return queued(state, record.value, at)
    case 'runStarted':
      return started(state, record.value, at)
    case 'runEnded':
      return owing(ended(state, record.value), record.value)
    case 'runDeleted': {
      const { runId, atMs } = record.value
      return withoutTasks(withoutRuns(state, [runId], atMs), [runId])
    }
    case 'taskPush':
      return pushChanged(state, record.value)
    case 'webhookSettled':
      return settled(state, record.value.runId)
    case 'headMoved':
      return headMoved(state, record.value)
    case 'checkpoint':
      return record.value.ns !== ''
        ? state
        : advanced(cleared(state, record.value.runId), record.value, at)
    case 'writes': {
      const rest = restAfterWrites(state.row, record.value, state.runs)
      return rest ? withRow(state, rest) : state
    }
    case 'historyCut':
      return historyCut(state)
    case 'checkpointPatched':
      return patchedCheckpoint(state, record.value)
    case 'stateEdited': {
      const { atMs: updatedAtMs } = record.value
      // The run that took messages continues at the new head.
      const rest = startedIn(state) ? {} : restAfterEdit(state.row, record.value)
      return withRow(state, { updatedAtMs, ...rest })
    }
    case 'commandApplied':
      return { ...state,
        applied: withApplied(state.applied, { id: record.value.commandId, seq: at.seq,
          atMs: record.value.atMs }) }
    default:
      return state
  }
}

type Payload<Case extends RecordOf['$case']> = Extract<RecordOf, { $case: Case }>['value']

/** Times only grow: the clock may be set back, and that of a new owner may be behind. */
function withRow(state: ThreadState, change: Partial<ThreadRow>): ThreadState {
  const { row } = state
  const updatedAtMs = Math.max(row.updatedAtMs, change.updatedAtMs ?? 0)
  const stateUpdatedAtMs = Math.max(row.stateUpdatedAtMs, change.stateUpdatedAtMs ?? 0)
  return { ...state, row: { ...row, ...change, updatedAtMs, stateUpdatedAtMs } }
}

function created(state: ThreadState, { atMs, ...value }: Payload<'threadCreated'>): ThreadState {
  const row = {
    resting: value.status || 'idle',
    createdAtMs: atMs,
    updatedAtMs: atMs,
    stateUpdatedAtMs: atMs,
    hidden: value.hidden,
    metadataJson: value.metadataJson,
    interruptsJson: value.interruptsJson || '{}',
    ...value.timeToLive && { timeToLive: value.timeToLive },
  }
  return { ...withRow(state, row), exists: true, graphId: graphIdOf(value.metadataJson) }
}

function queued(state: ThreadState, value: Payload<'runCreated'>, at: RecordPosition): ThreadState {
  const run = newRun(state.row, value, at.seq)
  const { atMs: updatedAtMs, opening } = value
  const row = withRow(state, { updatedAtMs, ...opening !== undefined && { opening } })
  return { ...row, runs: [...state.runs, run] }
}

function started(state: ThreadState, value: Payload<'runStarted'>,
  at: RecordPosition): ThreadState {
  const runs = state.runs.map((run): RunRow =>
    run.runId !== value.runId ? run : {
      ...run,
      status: 'running' satisfies RunStatus,
      started: true,
      starts: (run.starts ?? 0) + 1,
      attempt: value.attempt,
      spentMs: value.attempt === run.attempt ? run.spentMs : undefined,
      baseCheckpointId: value.baseCheckpointId,
      updatedAtMs: Math.max(run.updatedAtMs, value.atMs),
      ownerDeaths: value.ownerDeaths,
      suspect: value.suspect,
      ...value.revision !== undefined && { revision: value.revision },
      firstSeq: run.started ? run.firstSeq : at.seq,
      startedAtMs: run.started ? run.startedAtMs : Math.max(run.createdAtMs, value.atMs),
    }
  )
  const isFirst = !startedIn(state)
  return {
    ...withRow(state, { updatedAtMs: value.atMs, ...isFirst && { restBefore: restOf(state.row) } }),
    runs,
  }
}

/** The run that has started and has not ended: there is one at most. */
function startedIn({ runs }: ThreadState): RunRow | undefined {
  return runs.find((run) => run.started)
}

/** `pending` hands the run back to the queue: the next start continues the same attempt. */
function ended(state: ThreadState, value: Payload<'runEnded'>): ThreadState {
  if (value.status === ('pending' satisfies RunStatus)) {
    const runs = state.runs.map((run) =>
      run.runId !== value.runId
        ? run
        : { ...run, status: value.status, attempt: value.attempt || run.attempt,
          spentMs: spentMs(run, value), ownerDeaths: value.ownerDeaths, suspect: value.suspect }
    )
    return { ...state, runs }
  }
  const run = state.runs.find(({ runId }) => runId === value.runId)
  const rest = withoutRuns(state, [value.runId], value.atMs)
  if (!run?.started) return rest
  const { row } = state
  if (value.refused) return withRow(rest, { ...row.restBefore, restBefore: undefined })
  return withRow(rest, { ...restAfterRun(row, value), restBefore: undefined,
    eventsFrom: run.firstSeq, lastRunId: run.runId })
}

/** Time for which an attempt was executed. After the death of an owner, its end is unknown. */
function spentMs(run: RunRow, { suspect, atMs }: Payload<'runEnded'>): number | undefined {
  return suspect ? run.spentMs : (run.spentMs ?? 0) + Math.max(0, atMs - run.updatedAtMs)
}

/** A run that finishes a superstep has passed what it was suspected for. */
function cleared(state: ThreadState, runId: string): ThreadState {
  const isBlamed = (run: RunRow) => run.runId === runId && (run.suspect || run.ownerDeaths > 0)
  if (!state.runs.some(isBlamed)) return state
  const runs = state.runs.map((run) =>
    isBlamed(run) ? { ...run, suspect: false, ownerDeaths: 0 } : run
  )
  return { ...state, runs }
}

/** The record that ends a run also says that its webhook is owed. */
function owing(state: ThreadState, { runId, owesWebhook }: Payload<'runEnded'>): ThreadState {
  if (!owesWebhook) return state
  return withRow(state, { owedWebhooks: [...state.row.owedWebhooks, runId] })
}

function settled(state: ThreadState, runId: string): ThreadState {
  const { owedWebhooks } = state.row
  if (!owedWebhooks.includes(runId)) return state
  return withRow(state, { owedWebhooks: owedWebhooks.filter((each) => each !== runId) })
}

/** Nothing of runs that are gone is owed, and nobody is notified of their tasks. */
function withoutTasks(state: ThreadState, runIds: readonly string[]): ThreadState {
  const { owedWebhooks, push } = state.row
  const owed = owedWebhooks.filter((key) => !runIds.includes(runOfKey(key).runId))
  const rest = owed.length === owedWebhooks.length
    ? state
    : withRow(state, { owedWebhooks: owed })
  if (push === undefined) return rest
  const isGone = runIds.includes(push.waitingRunId)
  return withPush(rest, { ...push, ...isGone && nothingWaits,
    configs: push.configs.filter(({ taskId }) => !runIds.includes(taskId)) })
}

const nothingWaits = { waitingRunId: '', waitingTaskId: '' } as const

function pushChanged(state: ThreadState, value: Payload<'taskPush'>): ThreadState {
  const { taskId, configs, waitingRunId, owes } = value
  const before = state.row.push ?? { configs: [], ...nothingWaits }
  const waits = waitingRunId !== ''
    ? { waitingRunId, waitingTaskId: taskId }
    : before.waitingTaskId === taskId
    ? nothingWaits
    : {}
  const others = before.configs.filter((each) => each.taskId !== taskId)
  const { owedWebhooks } = state.row
  const changed = withPush(state, { ...before, ...waits, configs: [...others, ...configs] })
  return owes === '' || owedWebhooks.includes(owes)
    ? changed
    : withRow(changed, { owedWebhooks: [...owedWebhooks, owes] })
}

/** Threads of whose tasks nobody is notified have none: their rows stay as they are. */
function withPush(state: ThreadState, push: PushConfigs): ThreadState {
  return withRow(state, { push: push.configs.length === 0 ? undefined : push })
}

function withoutRuns(state: ThreadState, runIds: readonly string[], atMs: number): ThreadState {
  const runs = state.runs.filter(({ runId }) => !runIds.includes(runId))
  return { ...withRow(state, { updatedAtMs: atMs }), runs }
}

/** Metadata that was merged into that of checkpoints, oldest first. */
export function patchesOf({ checkpointPatches }: ThreadRow): readonly CheckpointPatch[] {
  return checkpointPatches?.patches ?? []
}

function asPatches(patches: CheckpointPatch[]): Pick<ThreadRow, 'checkpointPatches'> {
  return { checkpointPatches: patches.length === 0 ? undefined : { patches } }
}

/** Cuts the history off before the head. */
function historyCut(state: ThreadState): ThreadState {
  const { row, row: { head } } = state
  const historyStart = head && { checkpointId: head.id, seq: head.seq }
  const patches = patchesOf(row).filter(({ checkpointId }) => checkpointId === head?.id)
  // The strategy has done its work. Any other still ends the thread.
  const isDone = row.timeToLive?.strategy === 'keep_latest'
  return withRow(state, { historyStart, ...isDone && { timeToLive: undefined },
    ...asPatches(patches) })
}

function patchedCheckpoint(state: ThreadState,
  { atMs, checkpointId, metadataJson }: Payload<'checkpointPatched'>): ThreadState {
  const others = patchesOf(state.row).filter((each) => each.checkpointId !== checkpointId)
  return withRow(state, { stateUpdatedAtMs: atMs,
    ...asPatches([...others, { checkpointId, metadataJson }]) })
}

function headMoved(state: ThreadState, value: Payload<'headMoved'>): ThreadState {
  const { seq, base, checkpointId: id } = value
  const head = id === '' ? undefined : { id, seq, base }
  const isBack = value.droppedRunIds.includes(startedIn(state)?.runId ?? '')
  const row = { head, movedBack: true, stateUpdatedAtMs: value.atMs,
    ...isBack && { ...state.row.restBefore, restBefore: undefined } }
  const rest = withoutTasks(withoutRuns(state, value.droppedRunIds, value.atMs),
    value.droppedRunIds)
  return withRow(rest, row)
}

function advanced(state: ThreadState, checkpoint: Payload<'checkpoint'>,
  at: RecordPosition): ThreadState {
  const { head } = state.row
  assert(checkpoint.full || checkpoint.parentId === head?.id,
    'a checkpoint that does not grow from the head stands alone')
  const base = checkpoint.full ? at.seq : head!.base
  const place: CheckpointPlace = { id: checkpoint.id, seq: at.seq, base }
  const row = { head: place, movedBack: false, stateUpdatedAtMs: checkpoint.atMs,
    ...restAtCheckpoint(state.row) }
  return withRow(state, row)
}
