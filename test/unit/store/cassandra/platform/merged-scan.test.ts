/** Scans of several projects in one order. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { ScannedHeads, SpanHead } from '../../../../../src/platform/index.ts'
import { mergeScans } from '../../../../../src/store/cassandra/platform/merged-scan.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const head = (startUs: number, id: string) => ({ startUs, id }) as SpanHead

async function* slicesOf(heads: readonly SpanHead[],
  size: number): AsyncGenerator<ScannedHeads, void, void> {
  for (let at = 0; at < heads.length; at += size) {
    const slice = heads.slice(at, at + size)
    // A head that is removed was looked at, and a slice may have only such.
    yield { heads: [], looked: 1 }
    yield { heads: slice, looked: slice.length }
  }
}

describe('scans that are merged', () => {
  it('give every head once, in order, and count what they looked at', async () => {
    const starts = fc.array(fc.nat(20), { maxLength: 30 })
    await expectAlways(
      fc.asyncProperty(fc.array(starts, { maxLength: 5 }),
        fc.constantFrom('newest' as const, 'oldest' as const), fc.integer({ min: 1, max: 7 }),
        async (projects, order, size) => {
          const sign = order === 'newest' ? -1 : 1
          const sorted = (heads: readonly SpanHead[]) =>
            heads.toSorted((a, b) => sign * (a.startUs - b.startUs || (a.id < b.id ? -1 : 1)))
          const all = projects.map((each, project) =>
            sorted(each.map((startUs, index) => head(startUs, `${project} ${index}`)))
          )
          const found: SpanHead[] = []
          let looked = 0
          for await (const slice of mergeScans(order, all.map((heads) => slicesOf(heads, size)))) {
            found.push(...slice.heads)
            looked += slice.looked
          }
          expect(found).toEqual(sorted(all.flat()))
          expect(looked).toBe(
            all.flatMap((heads) => [heads.length, Math.ceil(heads.length / size)]).reduce(
              (sum, each) => sum + each,
              0,
            ),
          )
        }),
    )
  })
})
