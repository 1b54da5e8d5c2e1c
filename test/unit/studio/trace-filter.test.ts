/** Filters of traces: words and the language of the API say the same, and the server reads it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readFilter } from '../../../src/platform/query/filter/read-filter.ts'
import { isLanguage, readLanguage,
  writeLanguage } from '../../../src/studio/traces/filter/filter-language.ts'
import { readWords, writeWords } from '../../../src/studio/traces/filter/filter-parts.ts'
import type { FilterPart } from '../../../src/studio/traces/filter/filter-parts.ts'
import { expectAlways } from '../../support/expect-always.ts'

const text = fc.oneof(fc.string({ minLength: 1, unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('web', 'a b', '"', '\\', 'tag', 'status', 'meta.x', 'a:b', 'x>2', 'feedback'))
const comparison = fc.constantFrom('>', '>=', '<', '<=')
const amount = fc.integer({ min: 0, max: 5_000_000 }).map((n) => n / 1_000)
const part: fc.Arbitrary<FilterPart> = fc.oneof(
  fc.record({ kind: fc.constant('word' as const), text }),
  fc.record({ kind: fc.constant('field' as const), value: text,
    field: fc.constantFrom('status', 'name', 'type', 'thread') }),
  fc.record({ kind: fc.constant('number' as const), comparison, value: amount,
    field: fc.constantFrom('latency', 'tokens') }),
  fc.record({ kind: fc.constant('tag' as const), value: text }),
  fc.record({ kind: fc.constant('metadata' as const), key: text, value: text }),
  fc.record({ kind: fc.constant('feedback' as const), key: text }),
  fc.record({ kind: fc.constant('feedback' as const), key: text,
    score: fc.record({ comparison, value: fc.integer({ min: -500, max: 500 })
      .map((n) => n / 100 + 0) }) }),
)

describe('words', () => {
  it('say what people type', () => {
    expect(readWords('weather status:error latency>2s tag:web customer:"c 1" feedback:good>=0.5'))
      .toEqual([
        { kind: 'word', text: 'weather' },
        { kind: 'field', field: 'status', value: 'error' },
        { kind: 'number', field: 'latency', comparison: '>', value: 2 },
        { kind: 'tag', value: 'web' },
        { kind: 'metadata', key: 'customer', value: 'c 1' },
        { kind: 'feedback', key: 'good', score: { comparison: '>=', value: 0.5 } },
      ])
    expect(readWords('latency<250ms')).toMatchObject([{ value: 0.25 }])
    expect(readWords('latency>soon a: :b "')).toMatchObject([{ kind: 'word' }, { text: 'a:' }, {
      text: ':b',
    }, { text: '' }])
  })

  it('are read as they were written', () => {
    expectAlways(fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      expect(readWords(writeWords(parts))).toEqual(parts)
    }))
  })

  it('are a filter, whatever is typed', () => {
    expectAlways(fc.property(fc.string({ unit: 'grapheme' }), (typed) => {
      const language = writeLanguage(readWords(typed))
      if (language !== undefined) readFilter(language)
    }))
  })
})

describe('the language', () => {
  it('is what the API asks for', () => {
    expect(writeLanguage([])).toBeUndefined()
    expect(writeLanguage(readWords('dobby loom status:error latency>=2.5s'))).toBe(
      'and(search("dobby loom"), eq(status, "error"), gte(latency, 2.5))',
    )
    expect(writeLanguage(readWords('plan:pro'))).toBe(
      'and(eq(metadata_key, "plan"), eq(metadata_value, "pro"))',
    )
  })

  it('is read by the server, and back into the same words', () => {
    expectAlways(fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const language = writeLanguage(parts)
      if (language === undefined) return
      expect(() => readFilter(language)).not.toThrow()
      expect(isLanguage(language)).toBe(true)
      const back = readLanguage(language)
      expect(back).toBeDefined()
      expect(writeLanguage(back!)?.replaceAll(/\s+/g, ' '))
        .toBe(spaced(parts)?.replaceAll(/\s+/g, ' '))
    }))
  })

  it('may say more than words can', () => {
    for (const more of ['or(eq(name, "a"), eq(name, "b"))', 'neq(status, "error")', 'eq(name, "a"',
      'eq(end_time, null)', 'in(name, ["a"])', 'gt(latency, "200ms")', 'words',
      'and(eq(name, "a"), not(eq(name, "b")))']) {
      expect(readLanguage(more)).toBeUndefined()
    }
  })
})

/** Spaces part the words of a search, wherever these were. */
function spaced(parts: readonly FilterPart[]): string | undefined {
  return writeLanguage(parts.flatMap((each): readonly FilterPart[] =>
    each.kind === 'word'
      ? each.text.split(/\s+/).filter((word) => word !== '')
        .map((word) => ({ kind: 'word' as const, text: word }))
      : [each]
  ))
}
