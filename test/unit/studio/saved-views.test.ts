/** Saved views: what is stored may be anything, and may be of a later version. */

import { expect, it } from 'vitest'

import { isLater, threadListViews, viewsIn,
  withView } from '../../../src/studio/addresses/saved-views.ts'
import { readProjectSearch } from '../../../src/studio/addresses/traces.ts'

const inText = (stored: unknown) => viewsIn(threadListViews, JSON.stringify(stored))

it('views are read, whatever is stored', () => {
  expect(viewsIn(threadListViews, null)).toEqual([])
  expect(viewsIn(threadListViews, '{')).toEqual([])
  expect(inText({ name: 'x' })).toEqual([])
  expect(inText([null, 1, { name: 5, search: {} }, { name: 'a', search: null }])).toEqual([])
  expect(inText([{ name: 'a', search: { q: 'x', status: 'nonsense' } }]))
    .toMatchObject([{ name: 'a', search: { q: 'x', status: undefined } }])
  expect(viewsIn({ read: readProjectSearch }, '[{"name":"b","search":{"list":"calls"}}]'))
    .toMatchObject([{ name: 'b', search: { list: 'calls' } }])
})

it('a view of a later version is kept as it is, and known as one', () => {
  const later = { name: 'later', search: { q: { and: [] } }, version: 2 }
  const views = inText([later, { name: 'now', search: {}, version: 1 }])
  expect(views.map(isLater)).toEqual([true, false])
  expect(views[0]).toEqual(later)
  expect(withView(views, { name: 'now', search: { q: 'y' } })).toHaveLength(2)
})
