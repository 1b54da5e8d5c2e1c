/** The report of a check: what a revision takes away from callers and from threads that wait. */

import { describe, expect, it } from 'vitest'

import { reportOf } from '../../../src/deployment/index.ts'
import type { GraphDescription } from '../../../src/graph/index.ts'

const graph = (graphId: string, nodes: readonly string[],
  stateChannels: GraphDescription['stateChannels'] = []): GraphDescription => ({ graphId, nodes,
    stateChannels, description: null, plain: true })

/** A graph with the nodes of its subgraphs. */
const nested = (...paths: readonly string[]): GraphDescription => ({
  ...graph('a', paths.filter((path) => !path.includes(':'))),
  subgraphNodes: paths.filter((path) => path.includes(':')),
})

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

describe('nodes of subgraphs', () => {
  const differences = (before: GraphDescription, after: GraphDescription) => {
    const waiting = [{ graph_id: 'a', node: 'research', threads: 3 }, { graph_id: 'a',
      node: 'research:ask', threads: 2 }]
    const { nodes_removed: removed, nodes_added: added } = reportOf({ before: [before],
      after: [after], ...rest, waiting })
    return { removed: removed.map(({ node, waiting_threads: threads }) => [node, threads]),
      added: added.map(({ node }) => node) }
  }

  it('are compared by their paths, and threads counted where they wait', () => {
    expect(
      differences(nested('research', 'research:ask', 'research:plan'),
        nested('research', 'research:inquire', 'research:plan')),
    )
      .toEqual({ removed: [['research:ask', 2]], added: ['research:inquire'] })
  })

  it('are gone where the node is a function now', () => {
    expect(differences(nested('research', 'research:ask'), nested('research')))
      .toEqual({ removed: [['research:ask', 2]], added: [] })
  })

  it('go without saying where the node that they are in is gone or new', () => {
    expect(
      differences(nested('research', 'research:ask', 'research:deep', 'research:deep:end'),
        nested('desk', 'desk:ask')),
    )
      .toEqual({ removed: [['research', 3]], added: ['desk'] })
  })

  it('are not compared with a description that has root nodes only', () => {
    const root = graph('a', ['research'])
    expect(differences(root, nested('research', 'research:ask')).removed).toEqual([])
    expect(differences(nested('research', 'research:ask'), root).removed).toEqual([])
    expect(differences(nested('research', 'research:ask'), root).added).toEqual([])
  })
})
