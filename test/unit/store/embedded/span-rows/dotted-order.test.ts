/** Dotted orders come back as they were, and take little room if they are canonical. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import type { SpanPlace } from '../../../../../src/platform/index.ts'
import { openDottedOrder, packDottedOrder,
  parentIn } from '../../../../../src/store/embedded/span-rows/dotted-order.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const aSegment = fc.record({
  us: fc.oneof(fc.integer({ min: 1_700_000_000_000_000, max: 1_900_000_000_000_000 }),
    fc.integer({ min: -1e14, max: 4e15 })),
  id: fc.uuid(),
})

/** As the official clients write it. */
function textOf({ us, id }: { readonly us: number; readonly id: string }): string {
  const ms = Math.floor(us / 1000)
  const [date, time] = new Date(ms).toISOString().replaceAll(/[-:Z]/g, '').split('T')
  const [seconds, millis] = time!.split('.')
  return `${date}T${seconds}${millis}${String(us - ms * 1000).padStart(3, '0')}Z${id}`
}

function placeOf(segments: readonly { readonly us: number; readonly id: string }[]): SpanPlace {
  const [first, last] = [segments[0]!, segments.at(-1)!]
  return { tenant: '', project: '', startUs: last.us, id: last.id, trace: first.id,
    traceStartUs: first.us }
}

it('comes back as it was, with its parent', () => {
  expectAlways(fc.property(fc.array(aSegment, { minLength: 1, maxLength: 8 }), (segments) => {
    const place = placeOf(segments)
    const order = segments.map(textOf).join('.')
    const packed = packDottedOrder(order, place)
    expect(openDottedOrder(packed, place)).toBe(order)
    if (segments.some(({ us }) => Math.abs(us - 1_577_836_800_000_000) >= 2 ** 47)) return
    expect((packed as Uint8Array).byteLength).toBe(
      segments.length === 1 ? 0 : 1 + (segments.length - 2) * 22,
    )
    expect(parentIn(packed, place.trace)).toBe(segments.at(-2)?.id)
  }))
})

it('comes back as it was, also if a character of it is another one', () => {
  const someSegments = fc.array(aSegment, { minLength: 1, maxLength: 4 })
  const aCharacter = fc.constantFrom('', '0', 'A', 'Z', '-', '.', 'é', '20')
  expectAlways(fc.property(someSegments, fc.nat(240), aCharacter, (segments, at, character) => {
    const text = segments.map(textOf).join('.')
    const order = text.slice(0, at) + character + text.slice(at + 1)
    const place = placeOf(segments)
    expect(openDottedOrder(packDottedOrder(order, place), place)).toBe(order)
  }))
})
