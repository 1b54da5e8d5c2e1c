/** Columns of the list of traces, from an address and back. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { columnsMax, columnTracks, columnWidth, columnWords, fieldColumns, leastWidth, readColumns,
  toggledColumn, usualColumns, widthMax, widthMin, withWidth,
  writeColumns } from '../../../src/studio/traces/columns/columns.ts'
import type { Column } from '../../../src/studio/traces/columns/columns.ts'
import { conversationSearch } from '../../../src/studio/traces/conversations/conversation-search.ts'
import { readLanguage, writeLanguage } from '../../../src/studio/traces/filter/filter-language.ts'
import { readWords } from '../../../src/studio/traces/filter/filter-parts.ts'
import { expectAlways } from '../../support/expect-always.ts'

const key = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom('a,b', 'a:80', 'tags', 'metadata.x', '%', 'a b'))
  .filter((name) => name.isWellFormed())
const column: fc.Arbitrary<Column> = fc.tuple(
  fc.oneof(
    fc.record({ kind: fc.constant('field' as const),
      name: fc.constantFrom(...fieldColumns.map(({ name }) => name)) }),
    fc.record({ kind: fc.constantFrom('metadata' as const, 'feedback' as const), name: key }),
  ),
  fc.option(fc.integer({ min: widthMin, max: widthMax }), { nil: undefined }),
).map(([plain, width]) => width === undefined ? plain : { ...plain, width })

describe('columns', () => {
  it('are read as they were written, each in its place', () => {
    expectAlways(fc.property(fc.array(column, { maxLength: 8 }), (added) => {
      const columns = added.reduce(toggledColumn, [] as readonly Column[])
      expect(readColumns(writeColumns(columns))).toEqual(columns)
    }))
  })

  it('of any text are none, or valid ones', () => {
    expectAlways(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const each of readColumns(text) ?? []) {
        expect(columnWidth(each)).toBeGreaterThanOrEqual(widthMin)
        expect(columnWords(each)).not.toBe('')
      }
    }))
    expect(readColumns(undefined)).toBeUndefined()
    expect(readColumns('nothing,metadata.')).toBeUndefined()
    expect(readColumns('none')).toEqual([])
    expect(readColumns('tokens:99999,tokens,metadata.%E0%A4%A,cost:1')).toEqual([
      { kind: 'field', name: 'tokens', width: widthMax },
      { kind: 'field', name: 'cost', width: widthMin },
    ])
    expect(readColumns(Array.from({ length: 90 }, (_, at) => `metadata.${at}`).join(',')))
      .toHaveLength(columnsMax)
  })

  it('stand in one order, keys before the numbers', () => {
    const more = toggledColumn(toggledColumn(usualColumns, { kind: 'metadata', name: 'plan' }), {
      kind: 'field',
      name: 'cost',
    })
    expect(writeColumns(more)).toBe('tags,metadata.plan,tokens,cost,latency,started')
    expect(writeColumns(toggledColumn(more, { kind: 'metadata', name: 'plan' })))
      .toBe('tags,tokens,cost,latency,started')
  })

  it('have widths within bounds, and usual ones', () => {
    const wide = withWidth(usualColumns, 'field.tokens', 100.4)
    expect(writeColumns(wide)).toBe('tags,tokens:100,latency,started')
    expect(columnTracks(wide)).toBe('24px 14px minmax(200px, 1fr) 140px 100px 64px 84px')
    expect(leastWidth(wide) - leastWidth(usualColumns)).toBe(40)
    expect(writeColumns(withWidth(wide, 'field.tokens', 9_999))).toContain(`tokens:${widthMax}`)
    expect(withWidth(wide, 'field.tokens', undefined)).toEqual(usualColumns)
  })
})

it('The traces of a conversation are found by its id, whatever that is.', () => {
  for (const id of ['t-1', 'a b', '"', 'x:y', '<img>']) {
    const parts = readWords(conversationSearch(id).q ?? '')
    expect(readLanguage(writeLanguage(parts)!)).toEqual([
      { kind: 'field', field: 'thread', value: id },
    ])
  }
})
