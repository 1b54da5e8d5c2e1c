/** Schemas of graphs whose state has types only, through the official client. */

import { expect, it } from 'vitest'
import { useServer } from '../support/server.ts'

const server = useServer({ project: 'typed', env: {
  LANGGRAPH_CONFIG: JSON.stringify({ wide: { configurable: { model: 'large' }, context: { a: 1 } },
    stray: {} }),
} })

const text = { type: 'string' }

it('A graph has the schemas of its types, with its messages as at run time.', async () => {
  const schemas = await server.client.assistants.getSchemas('wide')
  expect(schemas.state_schema).toMatchObject({ type: 'object', properties: {
    messages: { type: 'array', langgraph_type: 'messages' },
    topic: { type: ['string', 'null'], description: 'What it is about.' },
    words: { type: 'array', items: text },
  } })
  expect(schemas.input_schema).toMatchObject({ properties: { words: text } })
  const context = { type: 'object', properties: { model: { ...text, enum: ['large', 'small'] } } }
  expect([schemas.config_schema, schemas.context_schema]).toEqual([context, context])
  expect(await server.client.assistants.getSchemas('worded'))
    .toMatchObject({ input_schema: text, output_schema: { required: ['length'] } })
})

it('Subgraphs have the schemas of their types, at each depth.', async () => {
  const subgraphs = await server.client.assistants.getSubgraphs('outer', { recurse: true })
  const said = { properties: { said: text } }
  const counted = { properties: { said: text, count: { type: 'number' } } }
  expect(subgraphs).toMatchObject({
    sub: { input_schema: said, output_schema: said, state_schema: said },
    'sub|deep': { input_schema: counted, output_schema: counted, state_schema: counted },
    called: { state_schema: counted, state: counted, input: counted, output: counted },
  })
})

it('A graph without types keeps the names of its fields.', async () => {
  expect(await server.client.assistants.getSchemas('plain'))
    .toMatchObject({ state_schema: { properties: { topic: {} } }, context_schema: null })
})

it("LANGGRAPH_CONFIG is what graphs' own assistants begin with.", async () => {
  const { config, context } = await server.client.assistants.get('wide')
  expect([config, context]).toEqual([{ configurable: { model: 'large' } }, { a: 1 }])
  expect((await server.client.assistants.get('plain')).config).toEqual({})
  expect(server.process.output()).toMatch(/LANGGRAPH_CONFIG\) names stray, which is no graph/)
})
