/** The turns of the commands about runs: look up what a decision needs, decide, carry it out. */

import type { Turn } from '../../../cluster/index.ts'
import type { AppliedCommand, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { waitingInterrupts } from '../../graph/index.ts'
import { objectOf } from '../../json/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import { deploymentOf } from '../context/thread-graphs.ts'
import { decideCancel, decideDeleteRun, requireOutlive } from '../decide/cut-run.ts'
import type { PreparedCut } from '../decide/cut-run.ts'
import { requireTaker } from '../decide/injected-messages.ts'
import { isCanceled } from '../decide/owed.ts'
import { admit } from '../decide/run-queue.ts'
import { decideStart } from '../decide/start-run.ts'
import { threadNotFound } from '../decide/thread.ts'
import { cutShort } from '../execution/cut-short.ts'
import { cancelReason } from '../model/cancel-reason.ts'
import { asAnswer, isAtRest, unknownIds } from '../decide/strict-resume.ts'
import type { ThreadCommand } from '../model/command.ts'
import { fromNow, placeOf, start as beginning } from '../model/event-position.ts'
import { forkOf, mayHoldBack } from '../model/run-request.ts'
import type { CancelRun, FeedListener, FollowRun, StartRun } from '../model/thread-client.ts'
import { statusToCancel } from '../model/unfinished-run.ts'
import { activeRuns } from '../model/waiting-message.ts'
import { eventAtCheckpoint } from '../queries/checkpoint-event.ts'
import { runAsMade } from '../queries/known-run.ts'
import { turn } from './perform.ts'
import { rollbackOf } from '../queries/rollback-reader.ts'
import { resultOf, unfinishedRun } from './thread-parts.ts'
import type { ThreadParts } from './thread-parts.ts'
import { callWebhooks, isStillThere, isThere, renewIfDeleted, requireExist, requireNotInTheMaking,
  requireSeen } from './thread-turns.ts'
import { withGraph } from '../queries/waiting-nodes.ts'

type Command<Type extends ThreadCommand['type']> = Extract<ThreadCommand, { readonly type: Type }>

/** Starts a run. Throws `rejected`, `full`, or `not_found` for a missing thread or fork. */
export async function start(parts: ThreadParts, asked: StartRun,
  note: readonly RecordOf[]): Promise<Turn> {
  const { context } = parts
  const { threadLog, tenant, ports: { env, limits, defaultTimeToLive } } = context
  requireNotRemoved(parts, asked)
  let run = asAnswer(asked, threadLog.state, env.nowMs())
  let timeToLive: TimeToLiveRequest | undefined
  if (isThere(parts) || (run.ifMissing !== 'reject' && isStillThere(parts))) {
    requireSeen(parts, asked.allowed)
    // Before all that may have changed since the first try, which has made its run.
    const known = unfinishedRun(parts, run.runId) ?? await parts.keyed.get(run.commandId)
    if (known) {
      parts.keyed.repeated(known.runId)
      return { reply: threadLog.durable.then(() => known) }
    }
    await requireStartable(parts, run)
    run = await withGraph(context, run)
    if (run.plan.keptMinutes !== undefined) {
      throw new HeddleError('exists', `Thread ${context.threadId} already exists.`)
    }
    if (run.plan.injects) requireTaker(threadLog.state)
    requireRoom(parts)
  } else {
    requireMayCreate(parts, run)
    timeToLive = defaultTimeToLive?.(tenant)
    renewIfDeleted(parts)
    if (deploymentOf(context)) run = await withGraph(context, run)
  }
  if (run.resumeOnly && !run.strictResume) await requireQuestion(parts, run)
  const { state } = threadLog
  const before = run.strategy === 'reject' ? activeRuns(state) : state.runs
  const admission = admit(before, run.strategy, limits)
  const preparing = admission.kind === 'enqueue'
    ? undefined
    : prepareCut(parts, admission.runs, admission.kind, forkOf(run)?.checkpointId)
  const prepared = preparing && await preparing
  if (mayHoldBack(run)) holdBack(parts)
  const admitted = { run, admission, note, timeToLive, ...prepared }
  return turn(parts, (at, nowMs) => decideStart(at, admitted, nowMs))
}

/** Throws `not_found` for a repeated start whose run or thread was removed since its first try. */
function requireNotRemoved(parts: ThreadParts,
  { runId, commandId: key, again, againAfterMs }: StartRun): void {
  const { removed, tenant, threadId, threadLog: { state } } = parts.context
  const hasExpired = again === true && state.exists && !isStillThere(parts)
  if (hasExpired || removed.includes({ tenant, threadId }, { runId, key, againAfterMs })) {
    throw threadNotFound(threadId)
  }
}

/** Nothing of a thread that was never written is on disk, nor known to anybody. */
function holdBack({ context: { ports: { heldRuns }, inputs, tenant, threadLog } }: ThreadParts) {
  if (threadLog.state.row.seq > 0 || !heldRuns) return
  threadLog.holdBack(heldRuns.begin({ namespace: tenant, inputs, write: () => threadLog.keep() }))
}

/**
 * Throws `invalid` if the thread has no interrupt that the run resumes, or if its task
 * was cancelled. A thread with a run in progress has none, nor has a thread with a due run that
 * the new run does not replace.
 */
async function requireQuestion({ context: { threadLog, ports: { env } } }: ThreadParts,
  { kwargs: { command }, strategy, plan: { task } }: StartRun): Promise<void> {
  const { state, state: { runs, row, row: { head, lastRunId } } } = threadLog
  if (task !== undefined && lastRunId !== undefined && isCanceled(row, lastRunId)) {
    throw new HeddleError('invalid', `Task ${task} was canceled.`)
  }
  const replaces = strategy === 'interrupt' || strategy === 'rollback'
  const isFree = replaces ? !runs.some(({ started }) => started) : isAtRest(state, env.nowMs())
  const isResting = isFree && head !== undefined
  if (isResting) await threadLog.logged
  const tuple = isResting ? await threadLog.live.tuple('', null) : undefined
  const waiting = waitingInterrupts(tuple?.writes ?? [])
  const unknown = unknownIds(objectOf(command)['resume'], waiting)
  if (waiting.length > 0 && unknown.length === 0) return
  throw new HeddleError('invalid', waiting.length === 0
    ? 'Nothing on this thread waits for an answer.'
    : `No interrupt ${unknown[0]} waits for an answer.`)
}

async function requireStartable({ context }: ThreadParts, run: StartRun): Promise<void> {
  const { threadLog } = context
  const { checkpointId: id = null, checkpointNs: ns = '' } = forkOf(run) ?? {}
  if (id !== null) await threadLog.requireCheckpoint(ns, id)
}

function requireMayCreate(parts: ThreadParts, run: StartRun): void {
  if (run.ifMissing === 'reject' || forkOf(run)?.checkpointId != null) requireExist(parts)
  requireNotInTheMaking(parts, 'do_nothing')
  requireRoom(parts)
}

/** Throws `full` if this member holds too much input of runs and edits already. */
function requireRoom({ context: { inputs }, slot }: ThreadParts): void {
  inputs.requireLeft(slot)
}

/**
 * Prepares a cut of these runs. Undefined, without a wait, if there is nothing to prepare. Throws
 * `not_found` if it would drop the checkpoint `fork`.
 */
function prepareCut(parts: ThreadParts, runs: readonly RunRow[], action: CancelRun['action'],
  fork?: string | null): Promise<PreparedCut> | undefined {
  if (action === 'interrupt') return cutShort(parts, runs)?.then((ending) => ({ ending }))
  const started = runs.filter((run) => run.started)
  return started.length === 0 ? undefined : prepareRollback(parts, { runs, started, fork })
}

interface RunsToRollBack {
  readonly runs: readonly RunRow[]
  readonly started: readonly RunRow[]
  readonly fork: string | null | undefined
}

/** Removes the traces of runs before these are rolled back. */
async function prepareRollback({ context: { threadLog, ports, tenant } }: ThreadParts,
  { runs, started, fork }: RunsToRollBack): Promise<PreparedCut> {
  const rollback = await rollbackOf(started[0]!, threadLog, ports)
  if (fork) requireOutlive(fork, rollback)
  // Also of those that wait: they may have feedback.
  await ports.runsGone?.(tenant, runs)
  return { rollback }
}

/** Answers a repeated `start`: the run that the first one made, as it is now. */
export async function started(parts: ThreadParts, { runId }: StartRun,
  applied: AppliedCommand): Promise<RunRow> {
  try {
    return await runRow(parts, runId)
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return await runAsMade(runId, applied, parts.context)
  }
}

/** The reply comes when the cancel is in the log: the run has ended then. */
export async function cancel(parts: ThreadParts, { runId, cancel: how }: Command<'cancel'>,
  note: readonly RecordOf[]): Promise<Turn> {
  const { threadLog } = parts.context
  const { action, cause } = how
  const run = unfinishedRun(parts, runId)
  if (!run) {
    await runRow(parts, runId)
    return { reply: threadLog.durable }
  }
  const isWanted = how.openMs !== undefined && parts.keyed.wasRepeated(runId, how.openMs)
  if (isWanted || !isMeant(run, how)) return { reply: threadLog.durable }
  const preparing = prepareCut(parts, [run], action)
  const prepared = preparing && await preparing
  const cut = { runs: [run], action, reason: cancelReason(cause), note, ...prepared }
  return turn(parts, (at, nowMs) => decideCancel(at, cut, nowMs))
}

function isMeant(run: RunRow, { only, ofAssistant }: CancelRun): boolean {
  const isSo = only === undefined || only === statusToCancel(run)
  return isSo && (ofAssistant ?? run.assistantId) === run.assistantId
}

/** Deletes a run and stops its webhook. Throws `not_found`. */
export async function deleteRun(parts: ThreadParts, runId: string,
  note: readonly RecordOf[]): Promise<Turn> {
  const { ports, tenant } = parts.context
  const run = unfinishedRun(parts, runId) ?? await runRow(parts, runId)
  await ports.runsGone?.(tenant, [run])
  const ending = await cutShort(parts, [run])
  const deleted = turn(parts, (at, nowMs) => decideDeleteRun(at, { run, note, ending }, nowMs))
  callWebhooks(parts)
  return deleted
}

/** Waits for the result of a run. */
export function join(parts: ThreadParts, runId: string, cancelled?: AbortSignal): Turn {
  const { context: { threadLog }, retention } = parts
  if (unfinishedRun(parts, runId)) {
    keepWithout(parts, cancelled)
    // No other owner can know of a run that is kept back. If it is written later, that is checked.
    const kind = threadLog.isHeldBack ? { kind: 'early' } as const : {}
    return { reply: parts.waiters.wait(runId, cancelled), ...kind }
  }
  const over = threadLog.isHeldBack ? retention.over(runId) : undefined
  if (!over) return { reply: runRow(parts, runId).then((run) => resultOf(parts, run)) }
  const result = Promise.resolve(resultOf(parts, over))
  // Its caller comes late for it.
  retention.begin(result)
  return { reply: result }
}

/** A run whose caller has gone goes on, and so it is written. */
function keepWithout({ context: { threadLog } }: ThreadParts, caller?: AbortSignal): void {
  const keep = () => void threadLog.keep().catch(() => {})
  if (caller?.aborted) keep()
  else if (threadLog.isHeldBack) caller?.addEventListener('abort', keep, { once: true })
}

/** A run's row when it is on disk. Throws `not_found`. */
export async function runRow(parts: ThreadParts, runId: string): Promise<RunRow> {
  const { ports: { runs }, threadLog, tenant, threadId } = parts.context
  const known = unfinishedRun(parts, runId)
  await threadLog.durable
  const run = known ?? await runs.get(tenant, threadId, runId)
  if (!run) throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
  return run
}

/** Sends the listener what comes after an event. The result stops that. */
export async function followRun(parts: ThreadParts, runId: string, follow: FollowRun,
  listener: FeedListener): Promise<() => void> {
  const { feeds, context: { threadLog } } = parts
  // Reading `durable` hurries the write: a follower waits for the first events.
  void threadLog.durable
  const after = beginsAtCheckpoint(follow)
    ? await eventAtCheckpoint(runId, follow.checkpointId!, parts.context)
    : follow.after
  const run = feeds.has(runId) ? undefined : await runRow(parts, runId)
  return feeds.follow(runId, run, { ...follow, after }, listener)
}

/** Any event that is named wins over a checkpoint. */
function beginsAtCheckpoint({ after, checkpointId }: FollowRun): boolean {
  return checkpointId !== undefined && placeOf(after) === beginning
}

/** Sends the events of the thread. Of one whose time has ended, only what follows: its end. */
export function followThread(parts: ThreadParts, after: string | null,
  listener: FeedListener): () => void {
  const { threadFeed, context: { threadLog } } = parts
  const isOver = threadLog.state.exists && !isThere(parts)
  return threadFeed.follow(isOver ? fromNow : after, listener)
}
