/**
 * Calls that are owed when a run has ended: of its webhook, and of those who are notified of its
 * task. Pure.
 */

import type { PushConfig, PushConfigs } from '../../../proto/gen/storage/v1/push.ts'
import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { objectIn } from '../../json/index.ts'
import type { RunStatus } from '../../search/index.ts'
import type { OwnCommand } from '../model/command.ts'
import { canceledKey } from '../model/owed-key.ts'
import { hasQuestions, openInterrupts, questionsIn } from '../model/rest.ts'
import { planOf } from '../model/run-request.ts'
import type { PushChange, StartRun } from '../model/thread-client.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { isBusy } from '../model/waiting-message.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'

/** Configs of a task, and of all tasks of a thread, at most: the row of the thread has them. */
const [ofTaskMax, ofThreadMax] = [5, 20]

/** Member of the metadata of a thread: the run with whose question a cancelled task waited. */
export const canceledRunKey = 'a2a_canceled_run_id'

/** True if the task that waits at the interrupts of this run was cancelled. */
export function isCanceled({ metadataJson }: ThreadRow, runId: string): boolean {
  return objectIn(metadataJson)[canceledRunKey] === runId
}

/** The task that a run belongs to, by its first run. */
export function taskOfRun(run: Pick<RunRow, 'planJson' | 'runId'>): string {
  return planOf(run).task ?? run.runId
}

/** Those who are notified of a task. */
export function configsOf({ push }: Pick<ThreadRow, 'push'>,
  taskId: string): readonly PushConfig[] {
  return push?.configs.filter((each) => each.taskId === taskId) ?? []
}

/** Sets or removes a config. Throws `rejected` for a task that is over, `invalid` for too many. */
export function decidePush(at: Situation, change: PushChange, note: readonly RecordOf[],
  nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { state: { row, runs } } = at
  const { taskId } = change
  const before = configsOf(row, taskId)
  if (change.kind === 'remove') {
    const configs = before.filter(({ id }) => id !== change.id)
    if (configs.length < before.length) draft.write([pushRecord(draft, taskId, { configs })])
  } else {
    const waits = !isBusy(at.state) && !isCanceled(row, change.runId) && isAskedBy(row, change)
    if (!waits && !runs.some((run) => taskOfRun(run) === taskId)) {
      throw new HeddleError('rejected', 'The task is over: there is nothing more to notify of.')
    }
    draft.write([
      pushRecord(draft, taskId, { configs: withConfig(row, change.config),
        ...waits && { waitingRunId: change.runId } }),
    ])
  }
  draft.write(note)
  return draft.decided({ kind: 'done' })
}

/** The record for whom a new run notifies from its start. Throws `invalid`. */
export function startedPush(draft: Draft, { push, plan, runId }: StartRun): readonly RecordOf[] {
  if (push === undefined) return []
  const taskId = plan.task ?? runId
  return [pushRecord(draft, taskId, { configs: withConfig(draft.state.row, { ...push, taskId }) })]
}

/** A run starts that does not resume the task that waits: no run can resume that task any more. */
export function giveUpWaiting(draft: Draft, run: RunRow): void {
  const { row: { push }, runs } = draft.state
  const waiting = push?.waitingTaskId ?? ''
  if (waiting === '' || taskOfRun(run) === waiting) return
  // Its answer is under way.
  if (runs.some((run) => taskOfRun(run) === waiting)) return
  giveUp(draft, push!)
}

/** Notes that a task that waited is cancelled, if it is the one that metadata names. */
export function giveUpCanceled(draft: Draft, metadata: Readonly<Record<string, unknown>>): void {
  const { push } = draft.state.row
  const runId = push?.waitingRunId ?? ''
  if (runId !== '' && metadata[canceledRunKey] === runId) giveUp(draft, push!)
}

function giveUp(draft: Draft, { waitingRunId, waitingTaskId: taskId }: PushConfigs): void {
  const configs = configsOf(draft.state.row, taskId)
  draft.write([
    pushRecord(draft, taskId, { configs, waitingRunId: '',
      ...configs.length > 0 && { owes: canceledKey(waitingRunId) } }),
  ])
  if (configs.length > 0) draft.effect({ kind: 'oweWebhook' })
}

/** True if somebody is notified of the end of a run. */
export function isWatched(row: Pick<ThreadRow, 'push'>, run: RunRow): boolean {
  return row.push !== undefined && configsOf(row, taskOfRun(run)).length > 0
}

/** True if the open interrupts of the thread wait for an answer to the task. */
function isAskedBy(row: ThreadRow,
  { taskId, runId }: { readonly taskId: string; readonly runId: string }): boolean {
  return hasQuestions(row) && (row.lastRunId === runId || row.push?.waitingTaskId === taskId)
}

/**
 * Returns the interrupts with which a task waits after this run of it. Empty if an answer is in
 * progress already, undefined if the task has ended.
 */
export function askedAfter({ row, runs }: ThreadState, run: RunRow):
  | readonly unknown[]
  | undefined {
  const { runId, status } = run
  if (status === ('success' satisfies RunStatus)) {
    return hasQuestions(run) ? questionsIn(run) : undefined
  }
  const taskId = taskOfRun(run)
  const waits = isAskedBy(row, { taskId, runId }) ||
    runs.some((each) => taskOfRun(each) === taskId)
  return waits ? openInterrupts(row) : undefined
}

/** Returns the records of whether the task of an ended run waits now. */
export function endedPush(draft: Draft, run: RunRow): readonly RecordOf[] {
  const { row } = draft.state
  if (!isWatched(row, run)) return []
  const taskId = taskOfRun(run)
  const waitingRunId = isAskedBy(row, { taskId, runId: run.runId }) ? run.runId : ''
  const isKnown = waitingRunId === '' && row.push?.waitingTaskId !== taskId
  return isKnown
    ? []
    : [pushRecord(draft, taskId, { configs: configsOf(row, taskId), waitingRunId })]
}

/** Nobody is notified of a task any more. */
function forgottenPush(draft: Draft, taskId: string): readonly RecordOf[] {
  const { row } = draft.state
  return configsOf(row, taskId).length === 0 ? [] : [pushRecord(draft, taskId, { configs: [] })]
}

function pushRecord({ state: { row: { push } }, atMs }: Draft, taskId: string,
  { configs, waitingRunId, owes = '' }: { readonly configs: readonly PushConfig[];
    readonly waitingRunId?: string; readonly owes?: string }): RecordOf {
  const known = push?.waitingTaskId === taskId ? push.waitingRunId : ''
  return { $case: 'taskPush',
    value: { taskId, atMs, configs: [...configs], waitingRunId: waitingRunId ?? known, owes } }
}

/** The configs of a task with another one, which replaces that with its id. */
function withConfig(row: ThreadRow, config: PushConfig): readonly PushConfig[] {
  const before = configsOf(row, config.taskId)
  const others = before.filter(({ id }) => id !== config.id)
  const ofThread = (row.push?.configs.length ?? 0) - before.length + others.length + 1
  if (others.length >= ofTaskMax || ofThread > ofThreadMax) {
    throw new HeddleError('invalid', `A task has ${ofTaskMax} push notification configs at most, ` +
      `and all tasks of a context have ${ofThreadMax}: delete one.`)
  }
  return [...others, config]
}

/** Outcome of the call of a webhook. */
export type Settled = Omit<Extract<OwnCommand, { type: 'settled' }>, 'type'>

/** Calls the webhooks that are owed. Beyond `owedMax`, the oldest are given up. */
export function decideOwed(at: Situation, owedMax: number, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { owedWebhooks } = at.state.row
  const surplus = Math.max(0, owedWebhooks.length - owedMax)
  for (const runId of owedWebhooks.slice(0, surplus)) {
    settle(draft, { runId, delivered: false, reason: 'too many of this thread wait' })
  }
  draft.effect({ kind: 'callWebhooks' })
  return draft.decided()
}

/** Notes that a webhook was delivered, or given up for a reason. */
export function decideSettled(at: Situation, settled: Settled, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  settle(draft, settled)
  if (settled.over !== undefined) draft.write(forgottenPush(draft, settled.over))
  return draft.decided()
}

function settle(draft: Draft, { runId, delivered, reason }: Settled): void {
  if (!draft.state.row.owedWebhooks.includes(runId)) return
  if (!delivered) draft.effect({ kind: 'logGivenUp', runId, reason })
  draft.write([{ $case: 'webhookSettled', value: { runId, atMs: draft.nowMs, delivered, reason } }])
}
