/** Activates a revision, and shows the progress of the members until the watch has ended. */

import type { ControlDeployment, ControlRevision } from '../../api/index.ts'
import { count } from '../control/move-text.ts'
import { beginRollout, followRollout, requireDone } from '../control/rollout.ts'
import type { SeenRollout } from '../control/rollout.ts'
import { resultOf } from './deploy-plan.ts'
import type { Deploying } from './deploy-plan.ts'
import type { StepRows } from './step-rows.ts'

/** Revision to activate, with the rows for its progress. */
export interface Activating extends Deploying {
  readonly rows: StepRows
  /** The deployment as it was. */
  readonly before: ControlDeployment
  readonly revision: Pick<ControlRevision, 'name'>
}

/** Time beyond that of a phase: another member may have to take over. */
const slackMs = 60_000

/** Sends new runs to the revision. Throws CommandError. */
export async function activate(activating: Activating): Promise<void> {
  const { access, plan, rows, before, revision } = activating
  const { percent, movesRuns, timeoutMs, message } = plan
  const id = await beginRollout(access, revision.name, { percent, ...movesRuns && { now: true },
    message: message || undefined, prepare_s: Math.ceil(timeoutMs / 1_000),
    ...before.active !== null &&
      { expect: before.active } }, before)
  const follow = async (isDone: (seen: SeenRollout) => boolean, withinMs: number) => {
    const seen = await followRollout(access, id, isDone, withinMs)
    if (seen.kind === 'ended') requireDone(seen.outcome)
    return seen
  }
  const loaded = await follow((seen) => {
    rows.progress('ready', membersText(seen))
    return phaseOf(seen) !== 'preparing'
  }, timeoutMs + slackMs)
  rows.done('ready', [membersText(loaded)], { members: membersOf(loaded) })
  const moved = await follow((seen) => phaseOf(seen) === 'watching', slackMs)
  const isShare = percent !== undefined && percent < 100
  const text = isShare
    ? `${revision.name}  ${percent} % of new runs; ${before.active ?? 'nothing'} takes the rest`
    : `${revision.name}  ${moved.deployment.url}`
  rows.done(isShare ? 'share' : 'active', [text], { members: membersOf(moved) })
  if (plan.watches) await watch(activating, moved, (isDone) => follow(isDone, watchMs(moved)))
  if (plan.json) {
    rows.say('', '', resultOf(isShare ? 'share' : 'active', moved.deployment, revision))
  }
}

function phaseOf(seen: SeenRollout): string {
  return seen.kind === 'ended' ? 'ended' : seen.rollout.phase
}

function membersOf(seen: SeenRollout) {
  return seen.kind === 'ended' ? seen.outcome.members : seen.rollout.members
}

/** Progress of members: `2 of 3 members`, and those that were left out. */
function membersText(seen: SeenRollout): string {
  const members = membersOf(seen)
  const isReady = ({ state }: (typeof members)[number]) =>
    state === 'ready' || state === 'confirmed'
  const silent = members.filter(({ state }) => state === 'silent').map(({ id }) => id)
  return `${members.filter(isReady).length} of ${count(members.length, 'member')}` +
    (silent.length === 0 ? '' : `; left out: ${silent.join(', ')}`)
}

function watchMs(seen: SeenRollout): number {
  return slackMs + (seen.kind === 'ended' ? 0 : seen.rollout.watch_s * 1_000)
}

/** Follows the watch. The caller may leave, because the cluster watches by itself. */
async function watch({ source, rows }: Activating, moved: SeenRollout,
  follow: (isDone: () => boolean) => Promise<SeenRollout>): Promise<void> {
  if (moved.kind === 'ended') return
  const { watch_s: seconds } = moved.rollout
  let isLeft = false
  const stopAsking = source.interrupted(() => void (isLeft = true))
  rows.progress('watching', `${seconds} s; Ctrl-C leaves it to the cluster`)
  try {
    await follow(() => isLeft)
  } finally {
    stopAsking()
  }
  rows.done('watching', [isLeft ? 'left to the cluster' : 'no more errors than before'], {})
}
