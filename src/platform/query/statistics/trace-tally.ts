/**
 * What traces add up to: their roots are counted, and the tokens and costs are those of all spans
 * in them, because roots have none of their own.
 */

import type { SpanHead } from '../../spans/span.ts'
import type { RunsQuestion } from '../question.ts'
import { cellFilter } from './cell-filter.ts'
import type { Counter } from './count.ts'
import { emptyDistribution } from './distribution.ts'
import type { CellKey } from './roll-up.ts'
import { addHead, addTally, emptyTally } from './tally.ts'
import type { KeptTally, Measure, Tally } from './tally.ts'

/** What is summed up over all spans. */
const usage: readonly Measure[] = ['totalTokens', 'promptTokens', 'completionTokens', 'totalCost',
  'promptCost', 'completionCost']

/**
 * The question about all spans, if this one is about all roots. Undefined for one with another
 * condition: there each span counts its own tokens.
 */
export function wholeTraces(question: RunsQuestion): RunsQuestion | undefined {
  const filter = cellFilter(question)
  if (filter?.choice !== 'roots') return undefined
  const { rootsOnly: _rootsOnly, isRoot: _isRoot, filter: _filter, ...rest } = question
  return { ...rest, fromUs: filter.fromUs, toUs: filter.toUs }
}

/** Counts spans of any kind. */
export class TraceTally implements Counter {
  readonly roots = emptyTally()
  readonly all = emptyTally()

  cell(_startUs: number, key: CellKey | undefined, tally: KeptTally): void {
    addTally(this.all, tally)
    if (key?.root === true) addTally(this.roots, tally)
  }

  heads(heads: readonly SpanHead[]): void {
    for (const head of heads) {
      addHead(this.all, head)
      if (head.root === true) addHead(this.roots, head)
    }
  }

  /** The roots with the usage of all. Percentiles of the usage of a trace are not known. */
  get tally(): Tally {
    const { roots, all } = this
    const distributions = new Map(roots.distributions)
    for (const measure of usage) {
      const sum = all.distributions.get(measure)?.sum
      if (sum !== undefined) distributions.set(measure, { ...emptyDistribution(), sum })
    }
    const firstToken = all.distributions.get('firstToken')
    if (firstToken !== undefined) distributions.set('firstToken', firstToken)
    return { ...roots, distributions, kinds: all.kinds }
  }
}
