/** What the graphs' own assistants begin with. */

import { expect, it } from 'vitest'

import { graphConfigOf } from '../../../src/server/graph-config.ts'

const graphs = [{ graphId: 'agent', file: '/a.ts', exportName: 'graph', description: null }]
const none = { graphConfig: new Map() }
const projectWith = (LANGGRAPH_CONFIG?: string) => ({ graphs, configFile: '/p/langgraph.json',
  env: { ...LANGGRAPH_CONFIG !== undefined && { LANGGRAPH_CONFIG } } })

it('env of langgraph.json says it, unless the server does.', () => {
  const project = projectWith(
    JSON.stringify({ agent: { configurable: { a: 1 }, context: { b: 2 } }, other: {} }),
  )
  const { defaults, stray } = graphConfigOf(none, project)
  expect(defaults.get('agent')).toEqual({ config: { configurable: { a: 1 } }, context: { b: 2 } })
  expect(stray).toEqual(['env.LANGGRAPH_CONFIG names other, which is no graph of the project.'])
  const said = new Map([['agent', { config: {}, context: {} }], ['gone', { config: {},
    context: {} }]])
  const own = graphConfigOf({ graphConfig: said }, project)
  expect([own.defaults, own.stray]).toEqual([said, [
    expect.stringMatching(/LANGGRAPH_CONFIG\) names gone/),
  ]])
  expect(graphConfigOf(none, projectWith())).toEqual({ defaults: new Map(), stray: [] })
})

it('A project that says it wrongly is not served, with a sentence.', () => {
  for (const text of ['{', '[]', '{"agent": {"configurable": 7}}']) {
    expect(() => graphConfigOf(none, projectWith(text)))
      .toThrow(/langgraph\.json is not valid: env\.LANGGRAPH_CONFIG must /)
  }
})
