/** Operations as cells of a row, in whatever order and however often they were written. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { bytesOfUuid, foldHead, noFields, termOf } from '../../../../../src/platform/index.ts'
import type { SpanFields, SpanPlace, SpanWrite } from '../../../../../src/platform/index.ts'
import type { Row } from '../../../../../src/store/cassandra/driver/connection.ts'
import { bytesOfMark, cellOf,
  headOf } from '../../../../../src/store/cassandra/platform/rows/operation-cell.ts'
import { expectAlways } from '../../../../support/expect-always.ts'
import { someKinds } from '../../../../support/some-kinds.ts'

const place: SpanPlace = { tenant: 'acme', project: '00000000-0000-4000-8000-000000000001',
  startUs: 1_764_000_000_000_001, id: '019a0000-0000-7000-8000-000000000002',
  trace: '019a0000-0000-7000-8000-000000000003', traceStartUs: 1_764_000_000_000_000 }

const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
const uuid = fc.uuid()
const count = orNull(fc.nat())
const cost = orNull(fc.double({ noNaN: true, noDefaultInfinity: true }))
const timeUs = orNull(fc.integer({ min: 0, max: 2 ** 51 }))
const fields: fc.Arbitrary<SpanFields> = fc.record({ dottedOrder: orNull(fc.string()),
  parent: orNull(uuid), root: orNull(fc.boolean()), name: orNull(fc.string({ unit: 'grapheme' })),
  type: orNull(fc.string()), endUs: timeUs, firstTokenUs: timeUs, failed: orNull(fc.boolean()),
  promptTokens: count, completionTokens: count, totalTokens: count, promptCost: cost,
  completionCost: cost, totalCost: cost, kinds: someKinds(), thread: orNull(fc.string()),
  example: orNull(uuid) })
const writes = fc.uniqueArray(
  fc.record({
    place: fc.constant(place),
    kind: fc.constantFrom('post' as const, 'patch' as const),
    arrivedUs: fc.integer({ min: 1, max: 2 ** 51 }),
    fields,
    terms: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 30 }),
    indexed: fc.nat(20),
    block: orNull(fc.bigInt({ min: 0n, max: 2n ** 62n - 1n })),
  }),
  { minLength: 1, maxLength: 6, selector: ({ arrivedUs }) => arrivedUs },
)

/** The row that holds these operations, written in an order and some of them again. */
function rowOf(operations: readonly SpanWrite[], feedback: Record<string, Buffer> = {}): Row {
  const ops = Object.fromEntries(operations.map((each) => {
    const { key, data } = cellOf(each, 0)
    return [String(key), data]
  }))
  return { start_us: BigInt(place.startUs), span_id: bytesOfUuid(place.id), ops,
    feedback } as unknown as Row
}

const at = { tenant: place.tenant, project: place.project }

describe('the cells of operations', () => {
  it('fold to the head of the operations', () => {
    expectAlways(
      fc.property(
        writes.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], {
            minLength: all.length * 2,
          }))
        ),
        ([all, written]) => {
          expect(headOf({ ...at, row: rowOf(written) })).toEqual(foldHead(all))
        },
      ),
    )
  })

  it('are one cell for an operation that a client repeats later', () => {
    const write = { place, kind: 'patch', arrivedUs: 5, fields: noFields, terms: [3n], indexed: 1,
      block: null } as const
    expect(cellOf({ ...write, arrivedUs: 9 }, 1).key).toBe(cellOf(write, 0).key)
    expect(cellOf({ ...write, terms: [4n] }, 0).key).not.toBe(cellOf(write, 0).key)
    expect(cellOf({ ...write, kind: 'post' }, 0).key).not.toBe(cellOf(write, 0).key)
  })

  it('keep the order of operations that one request brought', () => {
    const write = (
      name: string,
    ) => ({ place, kind: 'patch', arrivedUs: 5, fields: { ...noFields, name }, terms: [],
      indexed: 0, block: null } as const)
    for (const names of [['a', 'b'], ['b', 'a']]) {
      const cells = names.map((name, nth) => cellOf(write(name), nth))
      for (const order of [cells, cells.toReversed()]) {
        const ops = Object.fromEntries(order.map(({ key, data }) => [String(key), data]))
        const row = { ...rowOf([]), ops } as unknown as Row
        expect(headOf({ ...at, row })?.name).toBe(names[1])
      }
    }
  })

  it('are no head without an operation, and have the terms of feedback', () => {
    const id = '019a0000-0000-7000-8000-000000000009'
    const mark = { id, key: 'liked', score: null, value: 'yes' }
    const marks = { [id]: bytesOfMark(mark) }
    expect(headOf({ ...at, row: rowOf([], marks) })).toBeUndefined()
    const write: SpanWrite = { place, kind: 'post', arrivedUs: 5, fields: noFields, terms: [3n],
      indexed: 1, block: null }
    expect(headOf({ ...at, row: rowOf([write], marks) })).toMatchObject({ feedback: [mark],
      terms: [3n, termOf.feedback('liked')] })
  })
})
