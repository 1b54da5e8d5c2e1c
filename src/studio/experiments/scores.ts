/** Scores of experiments beside each other: which is best, and what became worse. Pure. */

import type { ComparedExample, Experiment, ExperimentRun } from '../api/platform/experiments.ts'
import { score } from '../parts/trace-words.ts'

/** Differences below it are not seen in two digits. */
const leastDelta = 0.005

/** Answers of one experiment to one example; repetitions are one cell. */
export interface Cell {
  readonly run: ExperimentRun
  /** Number of runs of the experiment on the example. */
  readonly times: number
  /** Means by the key of the feedback. */
  readonly scores: Readonly<Record<string, number>>
  readonly latencyS: number | null
  readonly cost: number | null
}

/** An example with a cell for each experiment, in their order; null for one without an answer. */
export interface ComparedRow {
  readonly example: ComparedExample
  readonly cells: readonly (Cell | null)[]
  /** Places of the cells with the best and the worst scores; empty if all are alike. */
  readonly best: ReadonlySet<number>
  readonly worst: ReadonlySet<number>
  /** Between the best and the worst: 0 if nothing is scored. */
  readonly difference: number
  /** The most that a score fell below that of the first one; infinite for one that failed since. */
  readonly drop: number
  /** An experiment scored lower than the first one, or failed where that one did not. */
  readonly isRegression: boolean
}

/** The row of an example. */
export function comparedRow(example: ComparedExample,
  experimentIds: readonly string[]): ComparedRow {
  const cells = experimentIds.map((id) =>
    cellOf(example.runs.filter(({ project_id: project }) => project === id))
  )
  const means = cells.map((cell) => cell && mean(Object.values(cell.scores)))
  const known = means.filter((value) => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const isOpen = known.length > 1 && most > least
  const places = (wanted: number) =>
    new Set(isOpen ? means.flatMap((value, at) => value === wanted ? [at] : []) : [])
  const [first, ...others] = cells
  const drop = first == null
    ? 0
    : Math.max(0, ...others.map((cell) => cell === null ? 0 : dropOf(first, cell)))
  return { example, cells, best: places(most), worst: places(least), drop,
    difference: isOpen ? most - least : 0, isRegression: drop > 0 }
}

/** Means by their keys; what has none is left out. */
export function meansOf(stats: Experiment['feedback_stats'] | null): Cell['scores'] {
  return Object.fromEntries(
    Object.entries(stats ?? {}).flatMap(([key, { avg }]) => avg === null ? [] : [[key, avg]]),
  )
}

/** Differences of the scores from those of the first experiment; only those of 0.005 and more. */
export function deltasOf(scores: Cell['scores'],
  first: Cell['scores'] | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(scores).flatMap(([key, value]) => {
      const delta = value - (first?.[key] ?? value)
      return Math.abs(delta) < leastDelta ? [] : [[key, delta]]
    }),
  )
}

/** "+0.25", "−0.1": a difference between scores. */
export const deltaWords = (delta: number): string =>
  `${delta > 0 ? '+' : '−'}${score(Math.abs(delta))}`

/** Rows as they were asked for, of all that were read. */
export function arranged(rows: readonly ComparedRow[],
  options: { readonly by: 'difference' | 'worse' | undefined;
    readonly onlyRegressions: boolean }): readonly ComparedRow[] {
  const some = options.onlyRegressions ? rows.filter(({ isRegression }) => isRegression) : rows
  switch (options.by) {
    case 'difference':
      return some.toSorted((a, b) => b.difference - a.difference)
    case 'worse':
      // Two that failed are alike: infinity less infinity is no number.
      return some.toSorted((a, b) => a.drop === b.drop ? 0 : b.drop - a.drop)
    case undefined:
      return some
  }
}

function cellOf(runs: readonly ExperimentRun[]): Cell | null {
  const [run] = runs
  if (run === undefined) return null
  const keys = new Set(runs.flatMap(({ feedback_stats: stats }) => Object.keys(stats ?? {})))
  const scores = Object.fromEntries([...keys].flatMap((key) => {
    const value = mean(runs.map(({ feedback_stats: stats }) => stats?.[key]?.avg))
    return value === null ? [] : [[key, value]]
  }))
  return { run: runs.find(({ status }) => status === 'ERROR') ?? run, times: runs.length, scores,
    latencyS: mean(runs.map(({ latency_seconds: latency }) => latency)),
    cost: mean(runs.map(({ total_cost: cost }) => cost)) }
}

function dropOf(first: Cell, other: Cell): number {
  if (other.run.status === 'ERROR' && first.run.status !== 'ERROR') return Infinity
  return Math.max(0, ...Object.entries(first.scores)
    .map(([key, value]) => value - (other.scores[key] ?? value)))
}

function mean(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
