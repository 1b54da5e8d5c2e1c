/** The store that graphs get: the same items as those of the API, and of their own tenant only. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'

const server = useServer()
const store = () => server.client.store

type Call = readonly [method: string, ...values: unknown[]]

/** What a run of the graph got for these calls. */
async function did(graph: string, calls: readonly Call[], more: object = {}): Promise<unknown[]> {
  const state = await server.client.runs.wait(null, graph, { input: { calls, ...more } })
  return (state as { results: unknown[] }).results
}

describe.each(['memory', 'memorybelow'])('in the graph %s', (graph) => {
  it('everything put is read at once, there and over the API', async () => {
    const namespace = ['graph', randomUUID()]
    await store().putItem(namespace, 'outer', { from: 'api' })
    const results = await did(graph, [
      ['get', namespace, 'outer'],
      ['get', namespace, 'nothing'],
      ['put', namespace, 'inner', { from: 'graph', n: 2 }],
      ['get', namespace, 'inner'],
      ['search', namespace, { filter: { n: { $gt: 1 } } }],
      ['search', namespace, { limit: 1, offset: 1 }],
      ['listNamespaces', { prefix: namespace }],
      ['delete', namespace, 'outer'],
      ['get', namespace, 'outer'],
    ])
    const inner = { namespace, key: 'inner', value: { from: 'graph', n: 2 } }
    const outer = { namespace, key: 'outer', value: { from: 'api' } }
    expect(results).toMatchObject([outer, null, null, inner, [inner], [outer], [namespace], null,
      null])
    expect(await store().getItem(namespace, 'inner')).toMatchObject(inner)
    expect(await store().getItem(namespace, 'outer')).toBeNull()
  })

  it('calls at the same time are all done', async () => {
    const namespace = ['graph', randomUUID()]
    const puts = Array.from({ length: 50 }, (_, n): Call => ['put', namespace, `${n}`, { n }])
    await did(graph, puts, { together: true })
    expect((await store().searchItems(namespace, { limit: 100 })).items).toHaveLength(50)
  })

  it('what cannot be an item is refused, and the run can continue', async () => {
    const results = await did(graph, [
      ['put', ['a.b'], 'k', {}],
      ['put', [], 'k', {}],
      ['put', ['langgraph'], 'k', {}],
      ['put', ['a'], '', {}],
      ['put', ['a'], 'k', 'text'],
      ['put', ['a'], 'k', { text: 'x'.repeat(600_000) }],
      ['search', ['a'], { limit: 1e9 }],
    ])
    for (const result of results) {
      expect(result).toMatchObject({ message: expect.stringMatching(/\w+ \w+ \w+/) })
    }
    expect(await store().getItem(['a'], 'k')).toBeNull()
  })
})
