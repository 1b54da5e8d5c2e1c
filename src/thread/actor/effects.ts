/** Carries out each kind of effect of a decision. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import { withUntracked } from '../../graph/index.ts'
import { logFailure } from '../context/thread-context.ts'
import { errorResult, rolledBack } from '../decide/run-result.ts'
import type { Effect } from '../model/effect.ts'
import { planOf } from '../model/run-request.ts'
import { unwritten } from './run-waiters.ts'
import { valuesAtHand } from '../queries/state-values.ts'
import { isAwake, resultOf } from './thread-parts.ts'
import type { ThreadParts } from './thread-parts.ts'

/** The effect of one kind. */
type Of<Kind extends Effect['kind']> = Extract<Effect, { readonly kind: Kind }>

/** Does an effect; `durable` resolves when the records of its decision are on disk. */
type Act<Kind extends Effect['kind']> = (parts: ThreadParts, effect: Of<Kind>,
  durable: Promise<void>) => void

/** Carries an effect out. What speaks to clients waits for `durable`. */
export function carryOut<Kind extends Effect['kind']>(parts: ThreadParts, effect: Of<Kind>,
  durable: Promise<void>): void {
  const act: Act<Kind> = acts[effect.kind as Kind]
  act(parts, effect, durable)
}

const acts: { readonly [Kind in Effect['kind']]: Act<Kind> } = {
  execute: ({ slot }, effect) => slot.execute(effect),
  abort: ({ slot }) => slot.abort(),
  close: ({ slot }) => slot.close(),
  pause: ({ slot }) => slot.execution?.pause(),
  stopFor: ({ slot }, { revision }) => slot.execution?.stopFor(revision),
  stopForMessages: ({ slot }) => slot.execution?.stopForMessages(),

  rememberKey: ({ keyed }, { run }) => keyed.add(run),
  beginFeed: ({ feeds }, { run }) => feeds.begin(run.runId, run),
  resumeFeed: ({ feeds }, { run, seq }) => feeds.resume(run, seq),
  publish: ({ feeds }, { runId, entries }, durable) => feeds.publish(runId, durable, entries),
  forgetFeed: ({ feeds }, { runId }) => feeds.forget(runId),
  endRun,
  endRolledBack,
  endTaken: ({ feeds, waiters, context: { threadLog } }, { runId }, durable) => {
    const { seq: lastSeq } = threadLog.state.row
    void feeds.end({ runId, status: 'success', lastSeq }, durable)
    waiters.answer(runId, durable.then(() => '{}'))
  },
  endAll,
  refuseUnwritten: ({ waiters }, { runId }, durable) => {
    durable.catch((error: unknown) => waiters.refuse(runId, unwritten(error)))
  },
  logFailure: ({ context }, { run, reason, at }) => logFailure(context, run, reason, at),

  stopTimer: ({ timer }) => timer.stop(),
  wakeIn: ({ timer }, { ms }) => timer.wakeIn(ms),
  wakeAt: (parts, { atMs }) =>
    parts.timer.waitUntil(atMs,
      isAwake(parts) || parts.feeds.followed || parts.threadFeed.followed),
  holdInputs: ({ context: { inputs }, slot }, { characters }) => inputs.hold(slot, characters),
  enterQuarantine: ({ trial }, { run }) => trial.enter(run),
  leaveQuarantine: ({ trial }) => trial.leave(),
  watchDeployment: ({ deployment }) => deployment.watch(),

  forgetExecution: ({ context: { threadLog } }) => threadLog.forgetExecution(),
  forgetStates: ({ context: { threadLog } }) => threadLog.release(),
  forgetStatesSoon: ({ context: { threadLog } }, _, durable) => {
    durable.then(() => threadLog.release(), () => {})
  },
  retain: ({ retention }) => retention.begin(),
  stopRetention: ({ retention }) => retention.stop(),
  awaitWebhooks: ({ retention }, { isDue }) => retention.awaitWebhooks(isDue),
  oweWebhook: ({ context }) => context.notify({ type: 'owed' }),
  callWebhooks: ({ webhooks }) => webhooks.call(),
  stopWebhooks: ({ webhooks }) => webhooks.release(),
  logGivenUp: ({ context: { ports: { env }, tenant, threadId } }, { runId, reason }) =>
    env.log.warn('A webhook was given up.', { tenant, threadId, runId, reason }),
  refuseEdits: ({ slot }) => slot.release(new HeddleError('not_found', 'The thread was deleted.')),
}

function endRun(parts: ThreadParts, { run, values, untracked }: Of<'endRun'>,
  durable: Promise<void>): void {
  const { context, feeds, threadFeed, waiters, retention } = parts
  const { runId } = run
  reportEnd(parts, run, run.status, durable)
  const isWaited = waiters.has(runId)
  const known = isWaited ? values ?? valuesAtHand(context, run) : undefined
  const isFollowed = feeds.end(run, durable)
  const whole = known === undefined ? undefined : withUntracked(known, untracked)
  const answered = durable.then(() => (isWaited ? resultOf(parts, run, whole) : '{}'))
  waiters.answer(runId, answered)
  threadFeed.lendMemory()
  retention.ended(run, answered, isWaited || isFollowed)
}

/** Reports the end of a run to the watchers of its revision's roll-out, once it is on disk. */
function reportEnd({ context: { ports: { deployed }, tenant } }: ThreadParts, { revision }: RunRow,
  status: string, durable: Promise<void>): void {
  if (!deployed || revision === undefined) return
  durable.then(() => deployed.ended(tenant, revision, status), () => {})
}

function endRolledBack(parts: ThreadParts, { run, seq }: Of<'endRolledBack'>,
  durable: Promise<void>): void {
  const { feeds, waiters, retention } = parts
  reportEnd(parts, run, 'rollback', durable)
  void feeds.end({ runId: run.runId, status: 'rollback', lastSeq: seq }, durable)
  waiters.answer(run.runId, durable.then(() => errorResult(rolledBack)))
  if (planOf(run).temporary) retention.begin(durable)
}

function endAll({ feeds, threadFeed, waiters }: ThreadParts, { seq }: Of<'endAll'>,
  durable: Promise<void>): void {
  feeds.endAll(seq, durable)
  threadFeed.end(durable)
  waiters.refuseAllWith(durable.then(
    () => new HeddleError('not_found', 'The thread was deleted.', { deleted: true }),
    () => goingAway(),
  ))
}
