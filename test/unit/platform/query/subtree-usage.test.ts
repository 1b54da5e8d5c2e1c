/** Tokens of spans with all that is below them. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { SpanHead } from '../../../../src/platform/index.ts'
import { withSubtreeUsage } from '../../../../src/platform/query/subtree-usage.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const idOf = (index: number) => `0193a6b0-0000-7000-8000-${String(index).padStart(12, '0')}`

/**
 * Of each span its parent, by its place before it, its tokens, and whether it came in a request
 * without what is above it: its dotted order begins with it.
 */
const tree = fc.array(
  fc.tuple(fc.nat(), fc.option(fc.integer({ min: 0, max: 9 })), fc.boolean()),
  { minLength: 1, maxLength: 30 },
)

it('A span without tokens has those of the next spans below it that have some.', async () => {
  await expectAlways(fc.asyncProperty(tree, async (drafts) => {
    const parents = drafts.map(([parent], index) => (index === 0 ? null : parent % index))
    const cut = drafts.map(([, , isCut]) => isCut)
    const heads = drafts.map(([, totalTokens], index) => headOf(index, parents, totalTokens, cut))
    const store = { async *trace() {
      yield heads.toReversed()
    } }
    const sumOf = (index: number): number | null => {
      const own = heads[index]!.totalTokens
      if (own !== null) return own
      const below = parents.flatMap((parent, child) => (parent === index ? [sumOf(child)] : []))
        .filter((each) => each !== null)
      return below.length === 0 ? null : below.reduce((sum, each) => sum + each, 0)
    }
    const shown = await withSubtreeUsage(store, heads)
    expect(shown.map(({ totalTokens }) => totalTokens)).toEqual(heads.map((_, at) => sumOf(at)))
    expect(shown.map(({ kinds }) => kinds?.promptTokens?.['cache_read'] ?? null))
      .toEqual(heads.map((_, at) => sumOf(at)))
  }))
})

it('What came in three requests, children first, has the sums of one.', async () => {
  const parents = [null, 0, 1]
  const heads = [null, null, 110].map((tokens, index) =>
    headOf(index, parents, tokens, [true, true, true])
  )
  const shown = await withSubtreeUsage({ async *trace() {
    for (const head of heads.toReversed()) yield [head]
  } }, heads)
  expect(shown.map(({ totalTokens }) => totalTokens)).toEqual([110, 110, 110])
})

it('What a dotted order names between two spans is no gap, and a circle ends.', async () => {
  const [root, , leaf] = [0, 1, 2].map((index) =>
    headOf(index, [null, 0, 1], index === 2 ? 7 : null)
  )
  const circle = [3, 4].map((index) => headOf(index, [null, 0, 1, null, null], 5))
  const ring = circle.map((head, at) => ({ ...head, parent: circle[1 - at]!.id }))
  const shown = await withSubtreeUsage({ async *trace() {
    yield [leaf!, root!, ...ring]
  } }, [root!])
  expect(shown.map(({ totalTokens }) => totalTokens)).toEqual([7])
})

it('Kinds of tokens are usage of their own, and of those of a trace the first 50 are summed up.',
  async () => {
    const kindsOf = (from: number) => ({ promptTokens: Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`kind ${from + n}`, 1]),
    ) })
    const heads = [0, 1, 2].map((index) => ({ ...headOf(index, [null, 0, 0], null),
      kinds: index === 0 ? null : kindsOf(20 * index) })
    )
    const [root, child] = await withSubtreeUsage({ async *trace() {
      yield heads
    } }, heads)
    const sums = Object.values(root!.kinds!.promptTokens!)
    expect([sums.length, sums.filter((each) => each === 2).length]).toEqual([50, 20])
    expect(child).toBe(heads[1])
  })

it('A span with nothing below it stays the same object, by which others may know it.', async () => {
  const head = headOf(0, [null], null)
  const [shown] = await withSubtreeUsage({ async *trace() {
    yield [head]
  } }, [head])
  expect(shown).toBe(head)
})

it('Calls of models are shown without a look at their trace.', async () => {
  const head = { ...headOf(0, [null], null), type: 'llm' }
  expect(await withSubtreeUsage({ trace: () => expect.fail('It is looked at.') }, [head]))
    .toEqual([head])
})

function headOf(index: number, parents: readonly (number | null)[], totalTokens: number | null,
  cut: readonly boolean[] = []): SpanHead {
  const path: string[] = []
  for (let at: number | null = index; at !== null; at = cut[at] === true ? null : parents[at]!) {
    path.unshift(`20260131T120000000000Z${idOf(at)}`)
  }
  const parent = parents[index]!
  return { ...noFields, tenant: 'acme', project: idOf(99), startUs: index, id: idOf(index),
    trace: idOf(0), traceStartUs: 0, arrivedUs: 0, dottedOrder: path.join('.'),
    root: parent === null, parent: parent === null ? null : idOf(parent), type: 'chain',
    totalTokens, kinds: totalTokens === null ? null : { promptTokens: { cache_read: totalTokens } },
    terms: [], blocks: [], feedback: [] }
}
