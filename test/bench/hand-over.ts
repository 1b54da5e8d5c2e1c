/** What clients notice when a member is asked to end, and when it comes back. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../support/cluster.ts'
import { Callers } from './callers.ts'
import { untilWhole } from './ownership-view.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { worstOf } from './statistics.ts'
import { WatchedRun } from './watched-run.ts'

export interface HandOverPlan {
  readonly rounds: number
  readonly threads: number
  readonly pauseMs: number
  readonly callers: number
}

/** Longest pauses between two updates of a stream, in seconds, and counts of failures. */
interface Round {
  readonly steady: number
  readonly leaving: number
  readonly joining: number
  readonly requests: number
  readonly failed: number
  /** Milliseconds of the slowest request. */
  readonly slowest: number
  readonly runs: number
  readonly breaks: number
}

/** More than needed: the runs are cancelled at the end of the measurement. */
const steps = 5_000
/** After this many steps all runs are warmed up. */
const warm = 30
const beginMs = 60_000
const exitMs = 60_000
const endMs = 60_000
/** How long is measured before and after. */
const aroundMs = 1_500

export async function handOverLines(cluster: Cluster, plan: HandOverPlan,
  threads: number): Promise<Line[]> {
  const rounds: Round[] = []
  for (let number = 0; number < plan.rounds; number += 1) {
    await untilWhole(cluster, threads)
    const round = await handOver(cluster, plan, number % cluster.members.length, threads)
    progress(`hand-over ${number + 1} of ${plan.rounds}: longest pause ` +
      `${round.steady.toFixed(2)} s before, ${round.leaving.toFixed(2)} s with SIGTERM, ` +
      `${round.joining.toFixed(2)} s when it joins; ${round.failed} of ${round.requests} failed, ` +
      `${round.breaks} streams broke`)
    rounds.push(round)
  }
  const all = (part: keyof Round) => rounds.map((round) => round[part])
  const sum = (part: keyof Round) => all(part).reduce((total, value) => total + value, 0)
  const running = `${plan.threads} threads in supersteps of ${plan.pauseMs} ms`
  return [
    { measure: `SIGTERM of a member and its return, ${running}: failed requests and broken streams`,
      unit: 'requests', aim: { sign: '≤', value: 0 },
      ratio: worstOf(rounds.map(({ failed, breaks }) => failed + breaks)),
      figures: [`${sum('requests')} requests: ${sum('failed')} failed`,
        `${sum('runs')} streams: ${sum('breaks')} broke`,
        `slowest ${Math.max(...all('slowest')).toFixed(0)} ms`] },
    { measure: `SIGTERM of a member, ${running}: longest pause of a stream`, unit: 's',
      ratio: worstOf(all('leaving')), aim: { sign: '≤', value: 1 },
      figures: [`before it ${Math.max(...all('steady')).toFixed(2)} s`] },
    { measure: `return of a member, ${running}: longest pause of a stream`, unit: 's', figures: [],
      ratio: worstOf(all('joining')), aim: { sign: '≤', value: 1 } },
  ]
}

async function handOver(cluster: Cluster, plan: HandOverPlan, index: number,
  threads: number): Promise<Round> {
  const member = cluster.members[index]!
  const doors = cluster.frontDoors.filter((_, other) => other !== index)
  const runs = Array.from({ length: plan.threads }, (_, number) =>
    new WatchedRun({
      doors: number % 2 === 0 ? doors : doors.toReversed(),
      steps,
      pauseMs: plan.pauseMs,
    }))
  const callers = new Callers(doors, runs.map(({ threadId }) => threadId), plan.callers)
  try {
    await Promise.all(
      runs.map((run) => run.until(beginMs, `superstep ${warm}`, ({ number }) => number === warm)),
    )
    callers.start()
    const marks = [performance.now()]
    const mark = async () => {
      await pause(aroundMs)
      marks.push(performance.now())
    }
    await mark()
    await within(exitMs, 'the end of the member that was told to end', member.kill('SIGTERM'))
    await mark()
    await within(exitMs, 'the member that was told to end', member.restart())
    await untilWhole(cluster, threads)
    await mark()
    const [before, seen, gone, back] = marks as [number, number, number, number]
    await callers.stop()
    await endAll(runs, doors[0]!)
    return {
      steady: longestPause(runs, before, seen),
      leaving: longestPause(runs, seen, gone),
      joining: longestPause(runs, gone, back),
      requests: callers.requests,
      failed: callers.failed,
      slowest: callers.slowestMs,
      runs: runs.length,
      breaks: runs.reduce((sum, { breaks }) => sum + breaks, 0),
    }
  } finally {
    await callers.stop()
    for (const run of runs) run.close()
  }
}

async function endAll(runs: readonly WatchedRun[], door: string): Promise<void> {
  const served = new Served('front door', door)
  try {
    await within(endMs, 'the end of all cancelled runs', Promise.all(runs.map(async (run) => {
      await served.ask('POST', `/threads/${run.threadId}/runs/${run.runId}/cancel?wait=1`)
      await run.ended
      run.requireWhole()
    })))
  } finally {
    served.close()
  }
}

/** Seconds of the longest pause between updates of a stream that ends in or outlasts the span. */
function longestPause(runs: readonly WatchedRun[], fromMs: number, toMs: number): number {
  const pauses = runs.flatMap(({ seen }) => {
    const times = [...seen.map(({ atMs }) => atMs).filter((atMs) => atMs <= toMs), toMs]
    return times.slice(1).map((atMs, index) => atMs > fromMs ? atMs - times[index]! : 0)
  })
  return Math.max(...pauses) / 1_000
}
