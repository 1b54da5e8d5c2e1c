/**
 * Tallies traces: their roots are counted, with the tokens and costs of all spans in them, because
 * roots have none of their own.
 */

import type { SpanHead } from '../../spans/span.ts'
import type { RunsQuestion } from '../question.ts'
import { cellFilter } from './cell-filter.ts'
import type { Counter } from './count.ts'
import { emptyDistribution } from './distribution.ts'
import type { CellKey } from './roll-up.ts'
import { addHead, addTally, emptyTally } from './tally.ts'
import type { KeptTally, Measure, Tally } from './tally.ts'

/** Measures that are summed up over all spans of a trace. */
const usage: readonly Measure[] = ['totalTokens', 'promptTokens', 'completionTokens', 'totalCost',
  'promptCost', 'completionCost']

/**
 * The question for all spans of the traces, if this one asks for all roots. Undefined for one with
 * another condition: each span then counts its own tokens.
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

  /**
   * Tally of the roots, with the usage of all spans. The usage of single traces is not known, so
   * percentiles of it are missing.
   */
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
