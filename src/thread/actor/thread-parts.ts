/** Parts of one activation of a thread. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { goingAway } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { deploymentOf } from '../context/thread-graphs.ts'
import type { Situation } from '../decide/decision.ts'
import { runResult } from '../decide/run-result.ts'
import { isBusy } from '../model/waiting-message.ts'
import { KeyedRuns } from '../queries/known-run.ts'
import { DeploymentWatch } from './deployment-watch.ts'
import { ExpiryTimer } from './expiry-timer.ts'
import type { Purge } from './purge.ts'
import { RunFeeds } from '../execution/run-feeds.ts'
import { ThreadFeed } from '../execution/thread-feed.ts'
import { WorkSlot } from '../execution/work-slot.ts'
import { RunRetention } from './run-retention.ts'
import { RunTimer } from './run-timer.ts'
import { RunWaiters } from './run-waiters.ts'
import { RunWebhooks } from './run-webhooks.ts'
import { StateQueries } from '../queries/state-queries.ts'
import { valuesOf } from '../queries/state-values.ts'
import { Trial } from './trial.ts'

/** The parts of one activation, each with one job. */
export type ThreadParts = Readonly<ReturnType<typeof partsOf>>

/** Puts the parts around the log of a thread. */
export function partsOf(context: ThreadContext, purge: Purge) {
  const retention = new RunRetention(context)
  const feeds = new RunFeeds(context, () => retention.endSeen())
  const threadFeed = new ThreadFeed(context)
  return {
    context,
    slot: new WorkSlot(context, feeds, threadFeed),
    feeds,
    threadFeed,
    waiters: new RunWaiters(),
    timer: new RunTimer(context),
    trial: new Trial(context),
    deployment: new DeploymentWatch(context),
    expiry: new ExpiryTimer(context),
    retention,
    keyed: new KeyedRuns(context),
    webhooks: new RunWebhooks(context),
    queries: new StateQueries(context),
    purge,
  }
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
  return isAwake(parts) || feeds.followed || threadFeed.followed || slot.isEditing
    || webhooks.owed || purge.underWay || !threadLog.isOnDisk()
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
