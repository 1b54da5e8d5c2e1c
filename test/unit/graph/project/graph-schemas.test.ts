/** What a library shows of a graph: schemas, subgraphs, a drawing. */

import { describe, expect, it } from 'vitest'

import { sharedLibrary } from './open-library.ts'
import { sharedProject } from './project-files.ts'
import { isNight } from '../../../support/repeats.ts'

const ask = sharedLibrary(sharedProject('schemas'))
const askForms = sharedLibrary(sharedProject('forms'))

const schemasOf = (graphId: string) => ask((library, id) => library.schemas(id), graphId)

const messages = expect.objectContaining({
  type: 'array',
  langgraph_type: 'messages',
  items: expect.objectContaining({ type: 'object', required: ['content'] }),
})

describe('the schemas of a graph', () => {
  it('name the fields of an Annotation, separately for input and output', async () => {
    expect(await schemasOf('annotated')).toEqual({
      input_schema: { type: 'object', properties: { messages, question: {} } },
      output_schema: { type: 'object', properties: { answer: {} } },
      state_schema: { type: 'object', properties: { messages, question: {}, answer: {} } },
      config_schema: null,
      context_schema: null,
    })
  })

  it('have the types of a zod state and of its context', async () => {
    const { input_schema, state_schema, output_schema, config_schema, context_schema } =
      await schemasOf('zod')
    const properties = {
      messages,
      topic: { type: 'string', description: 'What it is about.' },
      due: {},
    }
    expect(input_schema).toMatchObject({ type: 'object', properties })
    expect(input_schema).not.toHaveProperty('required')
    expect(state_schema).toMatchObject({ properties, required: expect.arrayContaining(['topic']) })
    expect(output_schema).toEqual(state_schema)
    expect(context_schema).toMatchObject({ type: 'object', required: ['user', 'tone'], properties: {
      user: { type: 'string', description: 'Who asks.' },
      tone: { type: 'string', enum: ['kind', 'dry'] },
    } })
    expect(config_schema).toEqual(context_schema)
  })

  it('have the types of a StateSchema', async () => {
    const { input_schema, state_schema } = await schemasOf('stated')
    const properties = { messages, count: { type: 'number', default: 0 }, name: { type: 'string' } }
    expect(input_schema).toMatchObject({ type: 'object', properties })
    expect(input_schema).not.toHaveProperty('required')
    expect(state_schema).toMatchObject({ type: 'object', properties, required: ['name'] })
  })

  it.runIf(isNight)('are unknown for a graph without named state', async () => {
    expect(await askForms((library) => library.schemas('functional'))).toEqual({ input_schema: null,
      output_schema: null, state_schema: null, config_schema: null, context_schema: null })
  })

  it("are those of an agent's inner graph", async () => {
    expect(await askForms((library) => library.schemas('agent')))
      .toMatchObject({ input_schema: { type: 'object', properties: { messages } } })
  })
})

describe('the schemas of subgraphs', () => {
  it('are found by namespace, one level deep or all the way', async () => {
    const found = async (namespace: string | null, recurse: boolean) =>
      Object.keys(await ask(
        (library, ...details) => library.subgraphSchemas('nested', ...details),
        namespace,
        recurse,
      ))
    expect(await found(null, false)).toEqual(['sub'])
    expect(await found(null, true)).toEqual(['sub', 'sub|deep'])
    expect(await found('sub|deep', false)).toEqual(['sub|deep'])
    // A node whose name begins like the subgraph's: the engine's own search would mistake it.
    expect(await found('substitute', true)).toEqual([])
    expect(await ask((library) => library.subgraphSchemas('nested', 'sub', false))).toEqual({
      sub: expect.objectContaining({ state_schema: {
        type: 'object',
        properties: { said: {} },
      } }),
    })
  })
})

describe('the drawing of a graph', () => {
  const drawing = async (xray: boolean | number) => {
    const { nodes, edges } = await ask((library, depth) => library.drawable('nested', depth),
      xray) as {
        nodes: { id: string; type: string }[]
        edges: { source: string; target: string }[]
      }
    return { nodes: nodes.map(({ id }) => id),
      edges: edges.map(({ source, target }) => `${source} → ${target}`),
      types: new Set(nodes.map(({ type }) => type)) }
  }

  it.runIf(isNight)('shows its nodes and edges', async () => {
    expect(await drawing(false)).toEqual({
      nodes: ['__start__', 'sub', 'substitute', '__end__'],
      edges: ['__start__ → sub', 'sub → substitute', 'substitute → __end__'],
      types: new Set(['schema', 'runnable']),
    })
  })

  it.runIf(isNight)('goes as deep into subgraphs as it is asked to', async () => {
    const shallow = ['__start__', 'sub:deep', 'sub:beside', 'substitute', '__end__']
    const deep = ['__start__', 'sub:deep:one', 'sub:deep:two', 'sub:beside', 'substitute',
      '__end__']
    expect((await drawing(1)).nodes).toEqual(shallow)
    expect((await drawing(2)).nodes).toEqual(deep)
    expect((await drawing(true)).nodes).toEqual(deep)
    expect((await drawing(0)).nodes).toEqual((await drawing(false)).nodes)
  })
})
