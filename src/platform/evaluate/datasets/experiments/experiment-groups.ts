/** Experiments by what their metadata say, with the sums of each group. Pure. */

import type { ExperimentGroup as GroupJson, ProjectStats } from '../../../../api/index.ts'
import { isObject } from '../../../../json/index.ts'
import type { Project } from '../../../records/projects/project.ts'
import { zonedTextUs } from '../../../spans/time.ts'
import type { Uuid } from '../../../spans/span.ts'

type Scores = GroupJson['feedback_stats'][string]

/** Experiments with the same values. Its members are as clients know them, but for experiments. */
export interface ExperimentGroup extends Omit<GroupJson, 'experiments'> {
  readonly experiments: readonly Project[]
}

/** The groups, in the order in which their first experiments stand. */
export function groupedExperiments(projects: readonly Project[],
  stats: ReadonlyMap<Uuid, ProjectStats>, keys: readonly string[]): readonly ExperimentGroup[] {
  const valuesOf = ({ extraJson }: Project) => {
    const extra: unknown = JSON.parse(extraJson)
    const metadata = isObject(extra) && isObject(extra['metadata']) ? extra['metadata'] : {}
    return keys.map((key) => Object.hasOwn(metadata, key) ? metadata[key] : null)
  }
  const groups = Map.groupBy(projects, (project) => JSON.stringify(valuesOf(project)))
  return [...groups].map(([values, experiments]) => {
    const own = experiments.map(({ id }): ProjectStats => stats.get(id) ?? {})
    const given = JSON.parse(values) as readonly unknown[]
    const starts = experiments.map(({ startMs }) => startMs)
    const runs = sum(own.map((each) => numberIn(each, 'run_count')))
    const failed = sum(
      own.map((each) => numberIn(each, 'run_count') * numberIn(each, 'error_rate')),
    )
    const costs = own.map((each) => each.total_cost ?? null).filter((cost) => cost !== null)
    return {
      group: Object.fromEntries(keys.map((key, index) => [key, given[index]])),
      count: experiments.length,
      min_start_time: zonedTextUs(Math.min(...starts) * 1_000),
      max_start_time: zonedTextUs(Math.max(...starts) * 1_000),
      run_count: runs,
      error_rate: runs === 0 ? null : failed / runs,
      total_tokens: sum(own.map((each) => numberIn(each, 'total_tokens'))),
      total_cost: costs.length === 0 ? null : String(sum(costs.map(Number))),
      feedback_stats: scoresOf(own.map((each) => each.feedback_stats)),
      session_feedback_stats: scoresOf(own.map((each) => each.session_feedback_stats)),
      experiments,
    }
  })
}

/** The scores of several experiments as if all runs were of one. */
function scoresOf(all: readonly unknown[]): Record<string, Scores> {
  const found = new Map<string, { n: number; scored: number; sum: number }>()
  for (const stats of all) {
    for (const [key, value] of isObject(stats) ? Object.entries(stats) : []) {
      if (!isObject(value)) continue
      const { n, avg } = value
      const tally = found.get(key) ?? { n: 0, scored: 0, sum: 0 }
      found.set(key, tally)
      tally.n += Number(n)
      if (typeof avg !== 'number') continue
      tally.scored += Number(n)
      tally.sum += Number(n) * avg
    }
  }
  return Object.fromEntries(
    [...found].map((
      [key, { n, scored, sum: total }],
    ) => [key, { n, avg: scored === 0 ? null : total / scored }]),
  )
}

function numberIn(stats: ProjectStats, name: keyof ProjectStats): number {
  const value = stats[name]
  return typeof value === 'number' ? value : 0
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
