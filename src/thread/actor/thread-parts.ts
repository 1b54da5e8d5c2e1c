/** Parts of one activation of a thread. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { goingAway } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { deploymentOf } from '../context/thread-graphs.ts'
import type { Situation } from '../decide/decision.ts'
import { runResult } from '../decide/run-result.ts'
import { isBusy } from '../model/waiting-message.ts'
import type { KeyedRuns } from '../queries/known-run.ts'
import type { DeploymentWatch } from './deployment-watch.ts'
import type { ExpiryTimer } from './expiry-timer.ts'
import type { Purge } from './purge.ts'
import type { RunFeeds } from '../execution/run-feeds.ts'
import type { ThreadFeed } from '../execution/thread-feed.ts'
import type { WorkSlot } from '../execution/work-slot.ts'
import type { RunRetention } from './run-retention.ts'
import type { RunTimer } from './run-timer.ts'
import type { RunWaiters } from './run-waiters.ts'
import type { RunWebhooks } from './run-webhooks.ts'
import type { StateQueries } from '../queries/state-queries.ts'
import { valuesOf } from '../queries/state-values.ts'
import type { Trial } from './trial.ts'

/** The parts of one activation, each with one job. */
export interface ThreadParts {
  readonly context: ThreadContext
  readonly slot: WorkSlot
  readonly feeds: RunFeeds
  readonly threadFeed: ThreadFeed
  readonly waiters: RunWaiters
  readonly timer: RunTimer
  readonly trial: Trial
  readonly deployment: DeploymentWatch
  readonly expiry: ExpiryTimer
  readonly retention: RunRetention
  readonly keyed: KeyedRuns
  readonly webhooks: RunWebhooks
  readonly queries: StateQueries
  readonly purge: Purge
}

/** Input of the next decision: the state of the thread, and the work under way. */
export function situationOf(
  { context, context: { threadLog }, slot, trial }: ThreadParts,
): Situation {
  const deployment = deploymentOf(context)
  return { state: threadLog.state, position: threadLog.position, work: slot.current,
    suspect: trial.place, isResting: slot.isResting, refusesMessages: slot.refusesMessages,
    ...deployment && { deployment } }
}

/** True if any run is under way, waited for, or due before others would wake the thread. */
export function isAwake(
  { context: { threadLog }, waiters, slot, timer }: ThreadParts,
): boolean {
  const isNeeded = waiters.any || slot.isEditing || slot.isResting
  const { state } = threadLog
  return state.runs.length > 0 && (isNeeded || (isBusy(state) && !timer.mayDoze))
}

/** True if anything is in progress, owed or followed. */
export function isOccupied(parts: ThreadParts): boolean {
  const { context: { threadLog }, feeds, threadFeed, slot, webhooks, purge } = parts
  return isAwake(parts) || feeds.followed || threadFeed.followed || slot.isEditing ||
    webhooks.owed ||
    !threadLog.isOnDisk()
    || purge.underWay
}

/** The result of a run whose end is on disk; `known` are its values if they are at hand. */
export function resultOf({ context, slot }: ThreadParts, run: RunRow, known?: JsonText):
  | JsonText
  | Promise<JsonText> {
  if (known !== undefined) return runResult(run, known)
  const isAtRest = () => slot.execution === undefined
  return valuesOf(context, run, isAtRest).then((values) => runResult(run, values))
}

/** Ends all work of this activation, which continues elsewhere or later. */
export function releaseParts(
  { context, slot, timer, trial, deployment, expiry, retention, webhooks }: ThreadParts,
): void {
  slot.release(goingAway())
  timer.stop()
  trial.leave()
  deployment.leave()
  expiry.stop()
  retention.stop()
  context.inputs.hold(slot, 0)
  webhooks.release()
  context.threadLog.release()
}

/** Undefined for a run that has ended or does not exist. */
export function unfinishedRun({ context: { threadLog } }: ThreadParts, runId: string):
  | RunRow
  | undefined {
  return threadLog.state.runs.find((run) => run.runId === runId)
}

/** Once every write has landed or failed: sends followers and waiters to the next owner. */
export function leaveParts(parts: ThreadParts): void {
  const { feeds, threadFeed, waiters, context: { threadLog } } = parts
  feeds.loseAll()
  threadFeed.lose()
  waiters.refuseAll((runId) => {
    const run = unfinishedRun(parts, runId)
    return goingAway({ written: run !== undefined && threadLog.isOnDisk(run.firstSeq) })
  })
}
