/** How long a stream stands still when the owner of its thread is killed. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../support/cluster.ts'
import { ownerPlace, shardOfThread, statusOf, untilWhole } from './ownership-view.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { median, spreadOf, worstOf } from './statistics.ts'
import { WatchedRun } from './watched-run.ts'

export interface FailoverPlan {
  readonly kills: number
  /** Of the run that is watched, each of `pauseMs`. */
  readonly steps: number
  readonly pauseMs: number
  /** So many are told before the owner is killed. */
  readonly before: number
}

/** Seconds from the kill. */
interface Loss {
  /** Until another member has ended the session of the one that was killed. */
  readonly fenced: number
  /** Until another member owns the shard of the thread. */
  readonly claimed: number
  readonly resumed: number
  readonly breaks: number
}

const aheadMs = 30_000
const resumeMs = 60_000
const restartMs = 60_000
const lookMs = 20

/** `threads` are in the store: whoever takes a shard over has to read its rows. */
export async function failoverLines(cluster: Cluster, plan: FailoverPlan, threads: number):
  Promise<Line[]> {
  const losses: Loss[] = []
  for (let kill = 0; kill < plan.kills; kill += 1) {
    await untilWhole(cluster, threads)
    const loss = await loseOwner(cluster, plan, kill)
    progress(`kill ${kill + 1} of ${plan.kills}: fenced after ${loss.fenced.toFixed(2)} s, ` +
      `claimed after ${loss.claimed.toFixed(2)} s, resumed after ${loss.resumed.toFixed(2)} s`)
    losses.push(loss)
  }
  await untilWhole(cluster, threads)
  const all = (part: keyof Loss) => losses.map((loss) => loss[part])
  const parts = [`fenced ${median(all('fenced')).toFixed(2)} s`,
    `claimed ${median(all('claimed')).toFixed(2)} s`,
    `${all('breaks').reduce((sum, breaks) => sum + breaks, 0)} streams broken`]
  const measure = `SIGKILL of the owner to the first resumed update, ${threads} idle threads`
  return [
    { measure: `${measure}, p50 of ${plan.kills}`, unit: 's', figures: parts,
      ratio: spreadOf(all('resumed')), aim: { sign: '≤', value: 5 } },
    { measure: `${measure}, worst of ${plan.kills}`, unit: 's', figures: [],
      ratio: worstOf(all('resumed')), aim: { sign: '≤', value: 10 } },
  ]
}

/** The stream goes through a front door that is not the owner's; that of the owner dies with it. */
async function loseOwner(cluster: Cluster, plan: FailoverPlan, kill: number): Promise<Loss> {
  const threadId = crypto.randomUUID()
  const owner = await ownerPlace(cluster, threadId)
  const others = cluster.frontDoors.filter((_, place) => place !== owner)
  const doors = kill % 2 === 0 ? others : others.toReversed()
  const run = new WatchedRun({ ...plan, doors, threadId })
  try {
    await run.until(aheadMs, `superstep ${plan.before}`, ({ number }) => number === plan.before)
    const killedMs = performance.now()
    const since = (atMs: number) => (atMs - killedMs) / 1_000
    const watching = watchTakeover(doors[0]!, threadId)
    await cluster.members[owner]!.kill('SIGKILL')
    // What was on its way is of the attempt before; a resumed run says that it is another one.
    const resumed = await run.until(resumeMs, 'an update of the next attempt after the kill',
      ({ atMs, attempt }) => attempt > 1 && atMs > killedMs)
    const { fencedMs, claimedMs } = await watching
    await within(resumeMs, 'the end of the resumed run', run.ended)
    run.mustBeWhole(plan.steps)
    await within(restartMs, 'the member that was killed', cluster.members[owner]!.restart())
    return { fenced: since(fencedMs), claimed: since(claimedMs), resumed: since(resumed.atMs),
      breaks: run.breaks }
  } finally {
    run.close()
  }
}

/** When the member at that front door sees the owner gone, and another one in its place. */
async function watchTakeover(url: string, threadId: string) {
  const before = (await statusOf(url))!
  const shard = shardOfThread(threadId)
  const dead = before.shards.find((other) => other.shard === shard)!.session!
  const end = performance.now() + resumeMs
  let fencedMs = Number.NaN
  while (performance.now() < end) {
    const { view, shards } = await statusOf(url) ?? before
    const atMs = performance.now()
    if (Number.isNaN(fencedMs) && !view.some(({ id }) => id === dead)) fencedMs = atMs
    const owner = shards.find((other) => other.shard === shard)!.session
    if (owner !== dead && owner !== null) return { fencedMs, claimedMs: atMs }
    await pause(lookMs)
  }
  throw new Error(`${resumeMs / 1_000} s after the kill nobody has claimed shard ${shard}.`)
}
