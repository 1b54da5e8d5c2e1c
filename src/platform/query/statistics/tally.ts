/** Tallies of spans: counts, and distributions of their measures. */

import type { SpanHead } from '../../spans/span.ts'
import { addDistribution, addNumber, emptyDistribution, percentileOf } from './distribution.ts'
import type { Distribution, KeptDistribution } from './distribution.ts'
import { addFeedback, addMark } from './feedback-tally.ts'
import type { FeedbackTallies } from './feedback-tally.ts'
import { addKinds, addKindSums } from '../../spans/kind-sums.ts'
import type { KindSums } from '../../spans/kind-sums.ts'

/** Measures of a span, in microseconds, tokens and US dollars. */
const measures = {
  latency: { of: ({ startUs, endUs }) => (endUs === null ? null : Math.max(0, endUs - startUs)),
    scale: 1 },
  firstToken: {
    of: ({ startUs, firstTokenUs }) =>
      firstTokenUs === null ? null : Math.max(0, firstTokenUs - startUs),
    scale: 1,
  },
  totalTokens: { of: ({ totalTokens }) => totalTokens, scale: 1 },
  promptTokens: { of: ({ promptTokens }) => promptTokens, scale: 1 },
  completionTokens: { of: ({ completionTokens }) => completionTokens, scale: 1 },
  // A call may cost a millionth of a dollar.
  totalCost: { of: ({ totalCost }) => totalCost, scale: 1e9 },
  promptCost: { of: ({ promptCost }) => promptCost, scale: 1e9 },
  completionCost: { of: ({ completionCost }) => completionCost, scale: 1e9 },
} as const satisfies Readonly<
  Record<string, { readonly of: (head: SpanHead) => number | null; readonly scale: number }>
>

/** Name of a measure, such as `latency`. */
export type Measure = keyof typeof measures

/** Names of all measures, in a fixed order. */
export const measureNames = Object.keys(measures) as readonly Measure[]

/** A tally that others may be made of. */
export interface KeptTally {
  readonly count: number
  readonly errors: number
  /** Number of spans without an end and without an error. */
  readonly pending: number
  /** Number of spans with a first token. */
  readonly streamed: number
  /** The last start; 0 without spans. */
  readonly lastStartUs: number
  /** Those without a number are missing. */
  readonly distributions: ReadonlyMap<Measure, KeptDistribution>
  readonly feedback: FeedbackTallies
  readonly kinds: KindSums
}

/** Grows by `addHead` and `addTally`. */
export interface Tally extends KeptTally {
  count: number
  errors: number
  pending: number
  streamed: number
  lastStartUs: number
  readonly distributions: Map<Measure, Distribution>
}

/** A tally without any spans. */
export function emptyTally(): Tally {
  return { count: 0, errors: 0, pending: 0, streamed: 0, lastStartUs: 0, distributions: new Map(),
    feedback: new Map(), kinds: new Map() }
}

/** Adds a span with its measures and feedback. */
export function addHead(into: Tally, head: SpanHead): void {
  into.count += 1
  if (head.failed === true) into.errors += 1
  else if (head.endUs === null) into.pending += 1
  if (head.firstTokenUs !== null) into.streamed += 1
  into.lastStartUs = Math.max(into.lastStartUs, head.startUs)
  for (const measure of measureNames) {
    const { of, scale } = measures[measure]
    const value = of(head)
    if (value !== null) addNumber(distributionIn(into, measure), value, scale)
  }
  if (head.kinds !== null) addKinds(into.kinds, head.kinds)
  for (const mark of head.feedback) addMark(into.feedback, mark)
}

/** Adds all of another tally. */
export function addTally(into: Tally, other: KeptTally): void {
  into.count += other.count
  into.errors += other.errors
  into.pending += other.pending
  into.streamed += other.streamed
  into.lastStartUs = Math.max(into.lastStartUs, other.lastStartUs)
  for (const [measure, distribution] of other.distributions) {
    addDistribution(distributionIn(into, measure), distribution)
  }
  addFeedback(into.feedback, other.feedback)
  addKindSums(into.kinds, other.kinds)
}

/** A percentile of a measure; null if no span has it. */
export function percentileIn({ distributions }: Tally, measure: Measure, share: number):
  | number
  | null {
  const distribution = distributions.get(measure)
  return distribution === undefined
    ? null
    : percentileOf(distribution, share, measures[measure].scale)
}

function distributionIn({ distributions }: Tally, measure: Measure): Distribution {
  const found = distributions.get(measure)
  if (found !== undefined) return found
  const made = emptyDistribution()
  distributions.set(measure, made)
  return made
}
