/** The report of a check: what a revision takes away from callers and from threads that wait. */

import { expect, it } from 'vitest'

import { reportOf } from '../../../src/deployment/index.ts'
import type { GraphDescription } from '../../../src/graph/index.ts'

const graph = (graphId: string, nodes: readonly string[],
  stateChannels: GraphDescription['stateChannels'] = []): GraphDescription => ({ graphId, nodes,
    stateChannels, description: null, plain: true })

const nothing = { graphs_added: [], graphs_removed: [], nodes_removed: [], nodes_added: [],
  channels_removed: [], wants_env_missing: [] }
const rest = { waiting: [], wantsEnv: [], secretNames: [] }

it('The same graphs change nothing.', () => {
  const graphs = [graph('a', ['x', 'y'], ['m'])]
  expect(reportOf({ before: graphs, after: graphs, ...rest })).toEqual(nothing)
})

it('A first revision only adds graphs.', () => {
  expect(reportOf({ before: [], after: [graph('a', ['x'])], ...rest }))
    .toEqual({ ...nothing, graphs_added: ['a'] })
})

it('Graphs, nodes, channels and variables are compared, and threads counted where they wait.',
  () => {
    const waiting = [{ graph_id: 'a', node: 'ask', threads: 2 }, { graph_id: 'a', node: 'ask',
      threads: 1 }, { graph_id: 'b', node: 'ask', threads: 9 }, { graph_id: 'gone', node: 'old',
      threads: 4 }]
    expect(reportOf({
      before: [graph('a', ['ask', 'stay', 'quiet'], ['messages', 'topic']), graph('gone', ['old'])],
      after: [graph('a', ['stay', 'fresh'], ['messages', 'extra']), graph('b', ['ask'])],
      waiting,
      wantsEnv: ['KEY', 'OTHER', 'KEY'],
      secretNames: ['OTHER'],
    })).toEqual({
      graphs_added: ['b'],
      graphs_removed: ['gone'],
      nodes_removed: [{ graph_id: 'a', node: 'ask', waiting_threads: 3 }, { graph_id: 'a',
        node: 'quiet', waiting_threads: 0 }, { graph_id: 'gone', node: 'old', waiting_threads: 4 }],
      nodes_added: [{ graph_id: 'a', node: 'fresh' }],
      channels_removed: [{ graph_id: 'a', channel: 'topic' }],
      wants_env_missing: ['KEY'],
    })
  })

it('Channels that are not known are not said to be removed.', () => {
  const report = (before: GraphDescription['stateChannels'],
    after: GraphDescription['stateChannels']) =>
    reportOf({ before: [graph('a', [], before)], after: [graph('a', [], after)], ...rest })
      .channels_removed
  expect(report(['m'], null)).toEqual([])
  expect(report(null, ['m'])).toEqual([])
  expect(report('__root__', ['m'])).toEqual([{ graph_id: 'a', channel: '__root__' }])
})
