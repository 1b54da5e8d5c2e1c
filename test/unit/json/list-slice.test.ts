/** Parts of lists: any text is read or refused, and bounds are those of the language. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundsOf, sliceIn } from '../../../src/json/index.ts'
import { expectAlways } from '../../support/expect-always.ts'

const place = fc.option(fc.integer({ min: -40, max: 40 }), { nil: null })
const textOf = (value: number | null) => value === null ? '' : String(value)

describe('a part of a list', () => {
  it('is what slice gives, whatever its bounds', () => {
    expectAlways(
      fc.property(place, place, fc.array(fc.nat(), { maxLength: 30 }), (from, to, list) => {
        const named = sliceIn(`messages[${textOf(from)}:${textOf(to)}]`)
        expect(named).toEqual({ name: 'messages', slice: { from, to } })
        const bounds = boundsOf(named!.slice, list.length)
        expect(list.slice(bounds.from, bounds.to))
          .toEqual(list.slice(from ?? undefined, to ?? undefined))
        expect(bounds.from).toBeGreaterThanOrEqual(0)
        expect(bounds.to).toBeLessThanOrEqual(list.length)
        expect(bounds.from).toBeLessThanOrEqual(bounds.to)
      }),
    )
  })

  it('is read from any text without an error', () => {
    const nearly = fc.stringMatching(/^[a-z[\]:0-9-]{0,20}$/)
    expectAlways(fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearly), (text) => {
      const named = sliceIn(text)
      if (named) expect(text.startsWith(`${named.name}[`)).toBe(true)
    }))
  })

  it.each(['messages', 'messages[]', 'messages[1]', '[1:2]', 'messages[1:2:3]', 'messages[a:]',
    'messages[--1:]', 'messages[1:2] ', 'messages[99999999999:]'])('is not %j', (text) => {
      expect(sliceIn(text)).toBeUndefined()
    })
})
