/** Versions of assistants: what is different between two, and assistants by their graphs. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Assistant } from '../../../src/api/index.ts'
import type { JsonObject } from '../../../src/studio/api/client.ts'
import { readAssistantListSearch } from '../../../src/studio/addresses/assistants.ts'
import { byGraph, changesBetween } from '../../../src/studio/assistants/changes.ts'
import { expectAlways } from '../../support/expect-always.ts'

const base: Assistant = { assistant_id: 'a', graph_id: 'desk', name: 'desk', description: null,
  version: 1, config: {}, context: {}, metadata: {}, created_at: '', updated_at: '' }

const version = (part: Partial<Assistant>): Assistant => ({ ...base, ...part })

describe('changes', () => {
  it('name each place, with what was and what is', () => {
    const before = version({ context: { channel: 'web', model: { name: 'a', top: 1 } } })
    const after = version({ name: 'Desk', description: 'Writes.',
      context: { model: { name: 'b', top: 1 }, tags: ['x'] } })
    expect(changesBetween(before, after)).toEqual([
      { path: ['name'], kind: 'changed', before: 'desk', after: 'Desk' },
      { path: ['description'], kind: 'added', before: undefined, after: 'Writes.' },
      { path: ['context', 'channel'], kind: 'removed', before: 'web', after: undefined },
      { path: ['context', 'model', 'name'], kind: 'changed', before: 'a', after: 'b' },
      { path: ['context', 'tags'], kind: 'added', before: undefined, after: ['x'] },
    ])
  })

  it('are none between equals, and the same seen from the other side', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>
    const opposite = { added: 'removed', removed: 'added', changed: 'changed' } as const
    expectAlways(fc.property(objects, objects, (one, other) => {
      const [before, after] = [version({ context: one }), version({ context: other })]
      expect(changesBetween(before, before)).toEqual([])
      const turned = changesBetween(after, before).map((change) => ({ path: change.path,
        kind: opposite[change.kind], before: change.after, after: change.before })
      )
      const key = ({ path }: { path: readonly string[] }) => JSON.stringify(path)
      const sorted = (list: typeof turned) =>
        list.toSorted((a, b) => key(a).localeCompare(key(b)) || 0).map(key)
      expect(sorted(turned)).toEqual(sorted([...changesBetween(before, after)] as typeof turned))
    }))
  })
})

it('Assistants stand by their graphs, the one that was made with the graph first', () => {
  const own = version({ assistant_id: 'own', name: 'z', metadata: { created_by: 'system' } })
  const other = version({ assistant_id: 'other', name: 'a' })
  expect(byGraph([other, own], [{ graph_id: 'broken', error: 'a.ts:3: no' }])).toEqual([
    { graphId: 'broken', error: 'a.ts:3: no', assistants: [] },
    { graphId: 'desk', error: undefined, assistants: [own, other] },
  ])
})

it('An address may hold anything', () => {
  expect(readAssistantListSearch({ id: 'x', version: '3', vs: 2, act: 'edit' }))
    .toEqual({ id: 'x', version: 3, vs: 2, act: 'edit', graph: undefined })
  expect(readAssistantListSearch({ version: '-1', vs: {}, act: 'burn', id: [] }))
    .toEqual({ id: undefined, version: undefined, vs: undefined, act: undefined, graph: undefined })
})
