/** Which reducers are known to only append. */

import { describe, expect, it } from 'vitest'

import type { Reducer } from '../../../../src/graph/state/channel-updates.ts'
import { isPlainAppend, reportingAppend } from '../../../../src/graph/state/plain-append.ts'

/** As a project's file would define it. */
function defined(source: string): Reducer {
  // oxlint-disable-next-line no-new-func -- the source is what is looked at
  return new Function(`const R = [], returnV = []; return ${source}`)() as Reducer
}

describe('isPlainAppend', () => {
  it.each([
    '(a, b) => a.concat(b)',
    '(left, right) => [...left, ...right]',
    '(x, y) => [...x, y]',
    '(a = [], b = []) => a.concat(b)',
    '(a, b) => (a ?? []).concat(b ?? [])',
    '(a, b) => { return [...(a || []), ...(b || [])] }',
    'function (a, b) { return a.concat(b); }',
    'function add(a, b) { return [...a, ...b] }',
    '(R, L) => R.concat(L)',
    '(a, b) => a.concat(Array.isArray(b) ? b : [b])',
    '(a, b) => [...a, ...(Array.isArray(b) ? b : [b])]',
  ])('knows %s', (source) => {
    const operator = defined(source)
    expect(isPlainAppend(operator)).toBe(true)
    expect(operator([1], [2])).toEqual(source.includes('[...x, y]') ? [1, [2]] : [1, 2])
  })

  it.each([
    '(a, b) => b.concat(a)',
    '(a, b) => a.concat(R)',
    '(a, b) => a.concat(b).slice(-5)',
    '(a, b) => a.concat(a)',
    '(a, b) => [...a, ...b].sort()',
    '(a, b) => { a.push(...b); return a }',
    '(a, b) => { a[0].n = 1; return a.concat(b) }',
    '(a, b) => b',
    '(a) => a.concat(R)',
    '(a, b, c) => a.concat(b)',
    '(a, b) => a.concat(b.map((x) => x))',
    'Math.max',
    '(a, b) => a.concat(/* see */ b)',
    '(a, b = R) => a.concat(b)',
    '(a, b) => R.concat(b)',
    '((a, b) => a.concat(b)).bind(null)',
    '(V, b) => { returnV.concat(b) }',
    `(a, b) => a.concat(b)${' '.repeat(300)}.map((x) => x)`,
  ])('does not know %s', (source) => {
    const reports: unknown[] = []
    const operator = defined(source)
    if (!isPlainAppend(operator)) return
    // What it takes for one by its text must at least return a list.
    reportingAppend(operator, (update) => reports.push(update))([1], [2])
    expect(reports).toEqual([])
  })

  it('reports what is added, and nothing of what is no plain list', () => {
    const reports: unknown[] = []
    const append = reportingAppend((a, b) => (a as unknown[]).concat(b),
      (update) => reports.push(update))
    append([1], [2])
    append(new (class extends Array {})(), [3])
    expect(reports).toEqual([[[2]]])
  })
})
