/** Tokens and cost before and after: known, not known, or at least so much. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { summedUsage, unknownUsage,
  usageOfReplay } from '../../../../src/deployment/replay/replay-usage.ts'
import type { ReplayedRun } from '../../../../src/graph/index.ts'
import type { ReplayReport } from '../../../../src/graph/replay/replay-report.ts'
import { PriceList, pricerOf } from '../../../../src/platform/index.ts'
import { quiet } from './replay-world.ts'

const price = pricerOf(
  new PriceList([{ match_pattern: '^small$', match_path: ['model'], prompt_cost: 0.5,
    completion_cost: 2, prompt_cost_details: { cache_read: 0.1 } }]),
)
const small = { model: 'small', input: 10, output: 4, cacheRead: 0, cacheCreation: 0 }
const ran = (report: Partial<ReplayReport>, end: ReplayedRun['end'] = 'ended'): ReplayedRun => ({
  end,
  outcome: undefined,
  report: { ...quiet, ...report },
  firstStep: 1,
  steps: [],
  values: undefined,
  ms: 1,
})
const usageOf = (next: ReplayedRun | undefined, control?: ReplayedRun) =>
  usageOfReplay(next, control, price, 1)
const stop = { kind: 'items' } as const

it('Tokens have the prices of the workspace, those from a cache their own.', () => {
  const recordedTokens = [small, { ...small, cacheRead: 10 }]
  expect(usageOf(ran({ recordedTokens, tokens: [small] }))).toEqual({ isAtLeast: false,
    recorded: { tokens: 28, cost: 22 }, replayed: { tokens: 14, cost: 13 } })
})

it('A replay that was stopped, or that made no call of a model, says so.', () => {
  expect(usageOf(ran({ recordedTokens: [small], tokens: [], stop }))).toEqual({ isAtLeast: true,
    recorded: { tokens: 14, cost: 13 }, replayed: { tokens: 0, cost: 0 } })
  expect(usageOf(ran({ recordedTokens: [small], tokens: [] })).isAtLeast).toBe(false)
})

it('Where answers say nothing of tokens, or a model has no price, it is not known.', () => {
  expect(usageOf(ran({}))).toEqual(unknownUsage)
  const other = { ...small, model: 'unknown-model' }
  expect(usageOf(ran({ recordedTokens: [small, other], tokens: [small] }))).toMatchObject({
    recorded: { tokens: 28, cost: null },
    replayed: { tokens: 14, cost: null },
  })
  expect(usageOf(ran({ recordedTokens: [{ ...small, model: '' }] })).recorded)
    .toEqual({ tokens: 14, cost: null })
})

it('A replay that was late has that of its recording from the control.', () => {
  const control = ran({ recordedTokens: [small], tokens: [small] })
  for (const next of [ran({}, 'late'), undefined]) {
    expect(usageOf(next, control)).toMatchObject({ recorded: { tokens: 14 },
      replayed: { tokens: null, cost: null } })
  }
  expect(usageOf(ran({}, 'lost'))).toEqual(unknownUsage)
})

it('The sum has the runs that were compared and of which both are known, and no others.', () => {
  const counts = fc.record({ before: fc.nat(1e6), after: fc.option(fc.nat(1e6)),
    verdict: fc.constantFrom('same', 'diverged', 'unstable', 'not_replayable'),
    isAtLeast: fc.boolean() })
  fc.assert(fc.property(fc.array(counts), (all) => {
    const sum = summedUsage(all.map(({ before, after, verdict, isAtLeast }) => ({
      verdict: verdict as 'same',
      usage: { isAtLeast, recorded: { tokens: before, cost: before },
        replayed: { tokens: after, cost: after } },
    })))
    const known = all.filter(({ after, verdict }) =>
      after !== null && ['same', 'diverged'].includes(verdict)
    )
    const total = (of: 'before' | 'after') =>
      known.length === 0
        ? null
        : known.reduce((added, each) => added + each[of]!, 0)
    expect(sum).toEqual({ recorded: { tokens: total('before'), cost: total('before') },
      replayed: { tokens: total('after'), cost: total('after') },
      isAtLeast: known.some(({ isAtLeast }) => isAtLeast) })
  }))
})

it('A verdict of an earlier version has no usage.', () => {
  expect(summedUsage([{ verdict: 'same' }])).toEqual(unknownUsage)
})
