/** Dotted orders of traces whose spans came without them. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { SpanHead } from '../../../../src/platform/index.ts'
import { TraceOrders } from '../../../../src/platform/query/payload/trace-order.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const idOf = (n: number) => `0193a6b0-0000-7000-8000-${String(n).padStart(12, '0')}`

const headOf = (n: number, parent: number | null, startUs = n,
  dottedOrder: string | null = null): SpanHead => ({ ...noFields, tenant: 'acme', project: idOf(0),
    id: idOf(n), startUs, trace: idOf(9), traceStartUs: 0, arrivedUs: 0, terms: [], blocks: [],
    feedback: [], parent: parent === null ? null : idOf(parent), dottedOrder })

const ordersOf = (heads: readonly SpanHead[]) => {
  const orders = new TraceOrders()
  orders.note(heads)
  return new Map(orders.ordered(heads).map(({ id, dottedOrder }) => [id, dottedOrder!]))
}

it('Orders follow from parents and starts, whatever the spans came in', () => {
  const tree = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 5 }), fc.nat()), { minLength: 1,
    maxLength: 20 })
  expectAlways(fc.property(tree, (drafts) => {
    const heads = drafts.map(([parent, startUs], n) =>
      headOf(n, n === 0 ? null : parent % n, startUs)
    )
    const shuffled = drafts.map(([, , rank], n) => ({ rank, head: heads[n]! }))
      .toSorted((a, b) => a.rank - b.rank).map(({ head }) => head)
    const orders = ordersOf(heads)
    expect(ordersOf(shuffled)).toEqual(orders)
    for (const { id, parent } of heads) {
      expect(orders.get(id)!.slice(-36)).toBe(id)
      if (parent !== null) expect(orders.get(id)!.slice(0, -59)).toBe(orders.get(parent))
    }
  }))
})

it('What a client said wins, also for the spans below it', () => {
  const said = `20260101T000000000000Z${idOf(7)}.20260101T000000000001Z${idOf(1)}`
  const orders = ordersOf([headOf(0, null), headOf(1, 0, 1, said), headOf(2, 1), headOf(3, 8)])
  expect(orders.get(idOf(1))).toBe(said)
  expect(orders.get(idOf(2))).toBe(`${said}.19700101T000000000002Z${idOf(2)}`)
  expect(orders.get(idOf(3))).toBe(`19700101T000000000003Z${idOf(3)}`)
})

it('Each span of a long chain and of a circle is looked at once, and no order is long', () => {
  const count = 4_000
  for (const last of [null, 0]) {
    const heads = Array.from({ length: count }, (_, n) => headOf(n, n + 1 < count ? n + 1 : last))
    const orders = ordersOf(heads)
    expect(orders.size).toBe(count)
    for (const text of orders.values()) expect(text.length).toBeLessThan(61 * 59)
  }
})
