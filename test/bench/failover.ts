/** How long a stream stands still when the owner of its thread is killed. */

import type { Cluster } from '../support/cluster.ts'
import { ownerPlace, shardOfThread, statusOf, untilWhole } from './ownership-view.ts'
import { until, within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { median, spreadOf, worstOf } from './statistics.ts'
import { WatchedRun } from './watched-run.ts'

export interface FailoverPlan {
  readonly kills: number
  /** Supersteps of the watched run, each of `pauseMs`. */
  readonly steps: number
  readonly pauseMs: number
  /** How many steps are streamed before the owner is killed. */
  readonly before: number
}

/** Seconds from the kill. */
interface Loss {
  /** Until another member owns the shard of the thread, as seen by that front door. */
  readonly claimed: number
  readonly resumed: number
  readonly breaks: number
  /** The number of the attempt in the stream. */
  readonly attempt: number
}

const aheadMs = 30_000
const resumeMs = 60_000
const restartMs = 60_000

/** `threads` is the number in the store: the new owner of a shard has to read its rows. */
export async function failoverLines(cluster: Cluster, plan: FailoverPlan,
  threads: number): Promise<Line[]> {
  const losses: Loss[] = []
  for (let kill = 0; kill < plan.kills; kill += 1) {
    await untilWhole(cluster, threads)
    const loss = await loseOwner(cluster, plan, kill)
    progress(`kill ${kill + 1} of ${plan.kills}: ` +
      `claimed after ${loss.claimed.toFixed(2)} s, resumed after ${loss.resumed.toFixed(2)} s, ` +
      `attempt ${loss.attempt}, ${loss.breaks} breaks`)
    losses.push(loss)
  }
  await untilWhole(cluster, threads)
  const all = (part: keyof Loss) => losses.map((loss) => loss[part])
  const parts = [`claimed ${median(all('claimed')).toFixed(2)} s`,
    `${all('breaks').reduce((sum, breaks) => sum + breaks, 0)} streams broken`]
  const measure = `SIGKILL of the owner to the first resumed update, ${threads} idle threads`
  return [
    { measure: `${measure}, p50 of ${plan.kills}`, unit: 's', figures: parts,
      ratio: spreadOf(all('resumed')), aim: { sign: '≤', value: 5 } },
    { measure: `${measure}, worst of ${plan.kills}`, unit: 's', figures: [],
      ratio: worstOf(all('resumed')), aim: { sign: '≤', value: 10 } },
  ]
}

/** The stream goes through a front door that is not the owner's, which dies with the owner. */
async function loseOwner(cluster: Cluster, plan: FailoverPlan, kill: number): Promise<Loss> {
  const threadId = crypto.randomUUID()
  const owner = await ownerPlace(cluster, threadId)
  const others = cluster.frontDoors.filter((_, index) => index !== owner)
  const doors = kill % 2 === 0 ? others : others.toReversed()
  const run = new WatchedRun({ ...plan, doors, threadId })
  try {
    await run.until(aheadMs, `superstep ${plan.before}`, ({ number }) => number === plan.before)
    const killed = cluster.members[owner]!.pid
    if (run.seen.at(-1)!.pid !== killed) throw new Error('The owner does not execute the run.')
    const killedMs = performance.now()
    const since = (atMs: number) => (atMs - killedMs) / 1_000
    const watching = watchTakeover(doors[0]!, threadId)
    watching.catch(() => undefined)
    await cluster.members[owner]!.kill('SIGKILL')
    // Updates that were already on their way do not count.
    const resumed = await run.until(resumeMs, 'an update of what another member executed',
      ({ pid }) => pid !== killed)
    const claimedMs = await watching
    await within(resumeMs, 'the end of the resumed run', run.ended)
    run.requireWhole(plan.steps)
    await within(restartMs, 'the member that was killed', cluster.members[owner]!.restart())
    return { claimed: since(claimedMs), resumed: since(resumed.atMs), breaks: run.breaks,
      attempt: resumed.attempt }
  } finally {
    run.close()
  }
}

/** Resolves with the time when the member at that front door knows of another owner. */
async function watchTakeover(url: string, threadId: string): Promise<number> {
  const shard = shardOfThread(threadId)
  const owner = async () =>
    (await statusOf(url))?.shards
      .find((other) => other.shard === shard)?.session ?? undefined
  const dead = await owner()
  return until(resumeMs, `another owner of shard ${shard}`, async () => {
    const session = await owner()
    return session === undefined || session === dead ? undefined : performance.now()
  })
}
