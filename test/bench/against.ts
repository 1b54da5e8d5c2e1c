/** This server beside that of an earlier commit, in turns on the same machine: what a run costs. */

import { earlierProgram } from '../support/earlier-program.ts'
import type { EarlierProgram } from '../support/earlier-program.ts'
import { startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { quantile, ratios } from './statistics.ts'
import type { Spread } from './statistics.ts'
import { measureRuns } from './throughput.ts'
import type { Rounds, RunsPlan } from './throughput.ts'

const plans: Readonly<Record<'full' | 'quick', RunsPlan>> = {
  full: { rounds: 30, alone: 200, together: 1_500, warmUp: 2_000, clients: 32 },
  quick: { rounds: 3, alone: 20, together: 100, warmUp: 20, clients: 32 },
}

const project = 'bench'

/** The program to measure beside, and how much. */
export interface Comparison {
  readonly commit: string
  readonly quick: boolean
}

/**
 * Measures both programs on data directories of their own, with the packages of today. Ends the
 * process if the commit is not in the history.
 */
export async function benchAgainst({ commit, quick }: Comparison): Promise<Bench> {
  const earlier = earlierOrExit(commit)
  const servers = [await startServer({ project, program: earlier.home }),
    await startServer({ project }), await startServer({ project, args: ['--own-traces', 'off'] })]
  const [before, now, bare] = [new Served(commit, servers[0]!.url),
    new Served('now', servers[1]!.url), new Served('without traces', servers[2]!.url)]
  try {
    const plan = quick ? plans.quick : plans.full
    const { single, many, first } = await measureRuns([before, now, bare], plan)
    const lines = (measure: string, rounds: Rounds, unit: 'ms' | '/s', sign: '≤' | '≥'): Line[] =>
      [now, bare].map(({ name }) => ({
        measure: name === now.name ? measure : `${measure}, ${name}`,
        unit: 'times',
        figures: [figure(rounds, before.name, unit), figure(rounds, name, unit)],
        ratio: quartiles(ratios(rounds.get(name)!, rounds.get(before.name)!)),
        aim: { sign, value: 1 },
      }))
    return { title: `Benchmark beside ${commit}`, notes, file: 'RESULTS.md', lines: [
      ...lines('run-wait, 1 client, p50', single, 'ms', '≤'),
      ...lines(`runs per second, ${plan.clients} clients`, many, '/s', '≥'),
      ...lines('first event, 1 client, p50', first, 'ms', '≤'),
    ] }
  } finally {
    for (const served of [before, now, bare]) served.close()
    for (const server of servers) await server.close()
    earlier.remove()
  }
}

/** The earlier program, checked out. Ends the process if the commit is not in the history. */
export function earlierOrExit(commit: string): EarlierProgram {
  progress(`checking out ${commit}`)
  const earlier = earlierProgram(commit)
  if (earlier !== undefined) return earlier
  console.error(`No commit ${commit} is in the history of this checkout.`)
  process.exit(2)
}

/** The median, between the quartiles. */
export function quartiles(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25),
    high: quantile(values, 0.75) }
}

const notes = [
  'Each line is the median of the ratios of all rounds, and their quartiles. In a round each',
  'server is measured once, one after the other. Every run has a thread of its own. Without',
  'traces, this server has `--own-traces off`: the earlier one had no traces of runs.',
].join('\n')
