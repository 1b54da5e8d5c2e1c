/** Two traces step beside step, the pair that is chosen for it, and tags of many traces. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { SpanHead } from '../../../src/studio/api/platform/traces.ts'
import { tagChanges } from '../../../src/studio/api/platform/tag-changes.ts'
import { pairOf } from '../../../src/studio/traces/bench/compared-pair.ts'
import { alignedRows, changeOf } from '../../../src/studio/traces/comparison/aligned-spans.ts'
import { treeOf } from '../../../src/studio/traces/waterfall/span-tree.ts'
import { expectAlways } from '../../support/expect-always.ts'

/** A tree of names: `agent(model, tools(search))`, where `!` failed. */
function tree(text: string, mark: string) {
  const spans: SpanHead[] = []
  const parents: string[] = []
  for (const [at, token] of (text.match(/[a-z!]+|[()]/g) ?? []).entries()) {
    if (token === '(') parents.push(spans.at(-1)!.id)
    else if (token === ')') parents.pop()
    else {
      spans.push({ id: `${mark}${at}`, name: token.replace('!', ''), run_type: 'CHAIN',
        status: token.endsWith('!') ? 'ERROR' : 'SUCCESS', total_tokens: null,
        start_time: new Date(at).toISOString(), end_time: new Date(at + 1).toISOString(),
        parent_run_ids: [...parents] })
    }
  }
  return treeOf(spans, 1_000)
}

const shown = (before: string, after: string) =>
  alignedRows(tree(before, 'a'), tree(after, 'b')).map((row) =>
    `${'.'.repeat(row.depth)}${row.before?.span.name ?? '-'}|${row.after?.span.name ?? '-'}`
  )

describe('steps of two traces', () => {
  it('stand beside each other by name, the first with the first', () => {
    expect(shown('agent(model tools(search) model)', 'agent(model tools(search search) model)'))
      .toEqual(['agent|agent', '.model|model', '.tools|tools', '..search|search', '..-|search',
        '.model|model'])
    expect(shown('agent(a b c)', 'agent(x b y)')).toEqual(['agent|agent', '.-|x', '.a|-', '.b|b',
      '.-|y', '.c|-'])
    expect(shown('one(a)', 'two(a)')).toEqual(['one|two', '.a|a'])
    expect(shown('agent(tools(a))', 'agent')).toEqual(['agent|agent', '.tools|-', '..a|-'])
  })

  it('are all there once, whatever the traces are', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd(a b)', 'd(b)', 'd(d(a))'))
      .map((all) => `agent(${all.join(' ')})`)
    expectAlways(fc.property(names, names, (one, other) => {
      const [before, after] = [tree(one, 'a'), tree(other, 'b')]
      const rows = alignedRows(before, after)
      const ids = (of: (row: typeof rows[number]) => string | undefined) =>
        rows.flatMap((row) => of(row) ?? []).toSorted()
      expect(ids((row) => row.before?.span.id)).toEqual([...before.byId.keys()].toSorted())
      expect(ids((row) => row.after?.span.id)).toEqual([...after.byId.keys()].toSorted())
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
    }))
  })

  it('say how they differ', () => {
    const changes = alignedRows(tree('agent(a b! c d!)', 'a'), tree('agent(a! b d! e)', 'b'))
      .map((row) => `${(row.before ?? row.after)!.span.name} ${changeOf(row)}`)
    expect(changes).toEqual(['agent same', 'a failed', 'b mended', 'c removed', 'd same',
      'e added'])
  })
})

it('Two chosen traces are compared, the earlier first.', () => {
  const rows = [{ id: 'x', trace_id: 'x', start_time: '2026-11-29T10:00:00Z' }, { id: 'y',
    trace_id: 'y', start_time: '2026-11-29T09:00:00Z' }, { id: 'z', trace_id: 'z',
    start_time: null }]
  expect(pairOf(new Set(['x', 'y']), rows)).toEqual(['y', 'x'])
  for (const choice of [undefined, 'all', new Set(['x']), new Set(['x', 'y', 'z']),
    new Set(['x', 'gone'])] as const) expect(pairOf(choice, rows)).toBeUndefined()
})

it('A tag is added to the runs that do not have it, and the others stay.', () => {
  expect(
    tagChanges('p', [{ id: 'x', tags: ['a'] }, { id: 'y', tags: null }, { id: 'z', tags: ['new'] }],
      'new'),
  ).toEqual([{ id: 'x', session_id: 'p', tags: ['a', 'new'] }, {
    id: 'y',
    session_id: 'p',
    tags: ['new'],
  }])
  const full = Array.from({ length: 100 }, (_, at) => `tag ${at}`)
  expect(() => tagChanges('p', [{ id: 'x', tags: full }], 'new')).toThrow('100 tags already')
})
