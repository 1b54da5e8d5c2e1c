/** Sums of the feedback of one key. */

import type { FeedbackMark } from '../../spans/span.ts'

/** Grows by `addMark` and `addFeedback`. */
export interface FeedbackTally {
  count: number
  /** Number of marks with a score. */
  scores: number
  sum: number
  /** The sum of the squares of the scores. */
  squares: number
  min: number
  max: number
  /** Count of each value. Values beyond the first 20 are not counted. */
  readonly values: Map<string, number>
}

/** Tallies of feedback by its key. */
export type FeedbackTallies = Map<string, FeedbackTally>

/** Keys of feedback that are counted, values of one key, and characters of a value. */
const [keysMax, valuesMax, valueLengthMax] = [100, 20, 200]

/** Adds a mark. Marks with too many other keys before them are left out. */
export function addMark(into: FeedbackTallies, { key, score, value }: FeedbackMark): void {
  const tally = tallyOf(into, key)
  if (tally === undefined) return
  tally.count += 1
  if (score !== null) {
    tally.scores += 1
    tally.sum += score
    tally.squares += score ** 2
    tally.min = Math.min(tally.min, score)
    tally.max = Math.max(tally.max, score)
  }
  if (value !== null && value.length <= valueLengthMax) addValue(tally, value, 1)
}

/** Adds all tallies of another set. */
export function addFeedback(into: FeedbackTallies, other: FeedbackTallies): void {
  for (const [key, own] of other) {
    const tally = tallyOf(into, key)
    if (tally === undefined) continue
    tally.count += own.count
    tally.scores += own.scores
    tally.sum += own.sum
    tally.squares += own.squares
    tally.min = Math.min(tally.min, own.min)
    tally.max = Math.max(tally.max, own.max)
    for (const [value, count] of own.values) addValue(tally, value, count)
  }
}

/** The statistics of each key, as answers have them. */
export function feedbackJson(tallies: FeedbackTallies, version: 1 | 2): Record<string, unknown> {
  return Object.fromEntries([...tallies].map(([key, { count, scores, sum, values, ...rest }]) => {
    const avg = scores === 0 ? null : sum / scores
    const common = { n: count, avg, values: Object.fromEntries(values) }
    return [key, version === 1 ? common : { ...common, ...spread({ scores, sum, ...rest }) }]
  }))
}

function spread({ scores, sum, squares, min, max }: Omit<FeedbackTally, 'count' | 'values'>) {
  const variance = scores > 1 ? (squares - sum ** 2 / scores) / (scores - 1) : null
  return {
    min: scores === 0 ? null : min,
    max: scores === 0 ? null : max,
    stdev: variance === null ? null : Math.sqrt(Math.max(0, variance)),
    errors: 0,
    comments: [],
    sources: [],
    contains_thread_feedback: false,
  }
}

function tallyOf(tallies: FeedbackTallies, key: string): FeedbackTally | undefined {
  const found = tallies.get(key)
  if (found !== undefined || tallies.size === keysMax) return found
  const made: FeedbackTally = { count: 0, scores: 0, sum: 0, squares: 0, min: Infinity,
    max: -Infinity, values: new Map() }
  tallies.set(key, made)
  return made
}

function addValue({ values }: FeedbackTally, value: string, count: number): void {
  const found = values.get(value)
  if (found !== undefined || values.size < valuesMax) values.set(value, (found ?? 0) + count)
}
