/** Assistants through the official client: create, get, search, count, delete, graph, schemas. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { nextMillisecond } from '../support/millisecond.ts'
import { collect, say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const offset = /(Z|[+-]\d\d:\d\d)$/

describe('the assistant that every graph has', () => {
  it('is found by the graph id, and is the same one at every start', async () => {
    const agent = await server.client.assistants.get('echo')
    expect(agent).toMatchObject({
      // uuid5 of the graph id in the namespace that the ecosystem uses.
      assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
      graph_id: 'echo',
      name: 'echo',
      version: 1,
      metadata: { created_by: 'system' },
      description: 'Says back what it hears.',
    })
  })

  it('is found by its own id too', async () => {
    const byGraph = await server.client.assistants.get('echo')
    expect(await server.client.assistants.get(byGraph.assistant_id)).toEqual(byGraph)
  })

  it('is listed for each graph of the project', async () => {
    const found = await server.client.assistants.search({
      metadata: { created_by: 'system' },
      limit: 1_000,
    })
    const ids = found.map((assistant) => assistant.graph_id)
    expect(ids).toEqual(expect.arrayContaining(['echo', 'steps', 'defaulted', 'functional']))
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('a graph id with spaces, colons and letters beyond ASCII', () => {
  const graphId = 'Größe: eine Frage? 你好'

  it('is served on every path that names it', async () => {
    const { assistants, runs, threads } = server.client
    const path = `/assistants/${encodeURIComponent(graphId)}`
    const { status, body } = await ask(server.url, 'GET', path)
    expect([status, body]).toMatchObject([200, { graph_id: graphId, name: graphId }])
    for (const part of ['graph', 'schemas', 'subgraphs', 'graph?xray=1']) {
      expect((await ask(server.url, 'GET', `${path}/${part}`)).status).toBe(200)
    }
    const { assistant_id: id } = await assistants.create({ graphId })
    expect(await assistants.search({ graphId })).toMatchObject([{ assistant_id: id }, {}])
    const { thread_id } = await threads.create({ graphId, supersteps: [
      { updates: [{ values: say('before'), asNode: '__input__' }] },
    ] })
    for (const name of [graphId, id]) {
      await runs.wait(thread_id, name, { input: say('hello') })
    }
    expect(await threads.getState(thread_id)).toMatchObject({ metadata: { graph_id: graphId } })
    expect(await threads.search({ metadata: { graph_id: graphId } })).toMatchObject([{ thread_id }])
    const stream = runs.stream(null, graphId, { input: say('hello'), streamMode: 'updates' })
    expect((await collect(stream)).map(({ event }) => event)).toContain('updates')
    expect((await fetch(`${server.url}/metrics`)).status).toBe(200)
  })
})

describe('creating an assistant', () => {
  it('answers the whole assistant', async () => {
    const context = { model_name: 'small', system_prompt: 'Be brief.' }
    const made = await server.client.assistants.create({
      graphId: 'configured',
      name: 'Brief',
      description: 'Says little',
      context,
      config: { tags: ['x'], recursion_limit: 7, configurable: { customer: 'c1' } },
      metadata: { team: 'blue' },
    })
    expect(made).toMatchObject({
      graph_id: 'configured',
      name: 'Brief',
      description: 'Says little',
      context,
      version: 1,
      config: { tags: ['x'], recursion_limit: 7, configurable: { customer: 'c1' } },
      metadata: { team: 'blue' },
      assistant_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      created_at: expect.stringMatching(offset),
      updated_at: expect.stringMatching(offset),
    })
    expect(await server.client.assistants.get(made.assistant_id)).toEqual(made)
  })

  it('fills in what was not given', async () => {
    const made = await server.client.assistants.create({ graphId: 'echo' })
    expect(made).toMatchObject({
      name: 'Untitled',
      description: null,
      config: {},
      context: {},
      metadata: {},
      version: 1,
    })
  })

  it('keeps the id that was asked for and refuses it a second time with 409', async () => {
    const assistantId = randomUUID()
    await server.client.assistants.create({ graphId: 'echo', assistantId })
    await expect(server.client.assistants.create({ graphId: 'steps', assistantId }))
      .rejects.toMatchObject({ status: 409 })
    expect(await server.client.assistants.get(assistantId)).toMatchObject({ graph_id: 'echo' })
  })

  it('answers the existing one with ifExists do_nothing', async () => {
    const first = await server.client.assistants.create({ graphId: 'echo', name: 'first' })
    const second = await server.client.assistants.create({
      graphId: 'steps',
      name: 'second',
      assistantId: first.assistant_id,
      ifExists: 'do_nothing',
    })
    expect(second).toEqual(first)
  })

  it('is refused with 404 for an unknown graph', async () => {
    await expect(server.client.assistants.create({ graphId: 'nosuch' }))
      .rejects.toMatchObject({ status: 404 })
  })

  it('makes one assistant when many ask for the same id at once', async () => {
    const assistantId = randomUUID()
    const answers = await Promise.allSettled(
      Array.from({ length: 8 },
        (_, index) =>
          server.client.assistants.create({ graphId: 'echo', assistantId, name: `n${index}` })),
    )
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('finding assistants', () => {
  const team = randomUUID()
  const make = (name: string, graphId: string) =>
    server.client.assistants.create({ graphId, name, metadata: { team, nested: { deep: name } } })
  const namesOf = (found: { name: string }[]) => found.map(({ name }) => name)

  it('filters by graph, by a part of the name in any case, and by metadata', async () => {
    await make('Alpha', 'echo')
    await nextMillisecond()
    await make('beta', 'steps')
    await nextMillisecond()
    await make('Gamma', 'echo')
    const { assistants } = server.client
    const of = (query: object) => assistants.search({ metadata: { team }, ...query }).then(namesOf)
    expect((await of({ graphId: 'echo' })).sort()).toEqual(['Alpha', 'Gamma'])
    expect(await of({ name: 'BET' })).toEqual(['beta'])
    expect(await of({ metadata: { team, nested: { deep: 'Gamma' } } })).toEqual(['Gamma'])
    expect(await of({ metadata: { team: 'other' } })).toEqual([])
    expect(await assistants.count({ metadata: { team } })).toBe(3)
    expect(await assistants.count({ metadata: { team }, graphId: 'echo', name: 'alp' })).toBe(1)
  })

  it('sorts as asked', async () => {
    const sorted = async (sortBy: 'name' | 'created_at', sortOrder: 'asc' | 'desc') =>
      namesOf(await server.client.assistants.search({ metadata: { team }, sortBy, sortOrder }))
    expect(await sorted('created_at', 'asc')).toEqual(['Alpha', 'beta', 'Gamma'])
    expect(await sorted('created_at', 'desc')).toEqual(['Gamma', 'beta', 'Alpha'])
    const byName = await sorted('name', 'asc')
    expect(byName.toReversed()).toEqual(await sorted('name', 'desc'))
    expect(byName.indexOf('Alpha')).toBeLessThan(byName.indexOf('Gamma'))
  })

  it('answers pages with the next offset while there is more, and always the total', async () => {
    const page = (limit: number, from: number) =>
      server.client.assistants.search({
        metadata: { team },
        sortBy: 'created_at',
        sortOrder: 'asc',
        limit,
        offset: from,
        includePagination: true,
      })
    const first = await page(2, 0)
    expect(namesOf(first.assistants)).toEqual(['Alpha', 'beta'])
    expect(first.next).toBe('2')
    const last = await page(2, 2)
    expect(namesOf(last.assistants)).toEqual(['Gamma'])
    expect(last.next).toBeNull()
    const body = { metadata: { team }, limit: 2 }
    const answer = await ask(server.url, 'POST', '/assistants/search', body)
    expect(answer.headers.get('x-pagination-total')).toBe('3')
    const empty = await ask(server.url, 'POST', '/assistants/search', { ...body, offset: 1_000 })
    expect(empty.headers.get('x-pagination-total')).toBe('3')
    expect(empty.headers.get('x-pagination-next')).toBeNull()
  })

  it('shows the selected fields only', async () => {
    const [found] = await server.client.assistants.search({
      metadata: { team },
      name: 'alpha',
      select: ['assistant_id', 'name'],
    })
    expect(Object.keys(found!).sort()).toEqual(['assistant_id', 'name'])
  })
})

describe('deleting an assistant', () => {
  it('removes it with all its versions', async () => {
    const { assistants } = server.client
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    await assistants.update(id, { name: 'second' })
    await assistants.delete(id)
    await expect(assistants.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(assistants.getVersions(id)).rejects.toMatchObject({ status: 404 })
    await expect(assistants.setLatest(id, 1)).rejects.toMatchObject({ status: 404 })
    await expect(assistants.delete(id)).rejects.toMatchObject({ status: 404 })
  })

  it('keeps its threads by default', async () => {
    const { assistants, runs, threads } = server.client
    const thread = await threads.create()
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    await runs.wait(thread.thread_id, id, { input: say('hello') })
    expect((await ask(server.url, 'DELETE', `/assistants/${id}`)).status).toBe(204)
    expect(await threads.get(thread.thread_id)).toMatchObject({ metadata: { assistant_id: id } })
  })

  it('removes its threads if asked to, and no others', async () => {
    const { assistants, runs, threads } = server.client
    const [own, other] = [await threads.create(), await threads.create()]
    const { assistant_id: id } = await assistants.create({ graphId: 'echo' })
    await runs.wait(own.thread_id, id, { input: say('hello') })
    await runs.wait(other.thread_id, 'echo', { input: say('hello') })
    await assistants.delete(id, { deleteThreads: true })
    await expect(threads.get(own.thread_id)).rejects.toMatchObject({ status: 404 })
    expect(await threads.get(other.thread_id)).toMatchObject({ status: 'idle' })
  })
})

describe('the description of a graph', () => {
  it('has its nodes and edges', async () => {
    const graph = await server.client.assistants.getGraph('jump')
    expect(graph.nodes.map((node) => node.id)).toEqual(expect.arrayContaining(
      ['__start__', 'choose', 'left', 'right', '__end__'],
    ))
    expect(graph.edges).toContainEqual(expect.objectContaining(
      { source: '__start__', target: 'choose' },
    ))
  })

  it.each([true, 1])('opens subgraphs with xray %s', async (xray) => {
    const closed = await server.client.assistants.getGraph('nestedask')
    expect(closed.nodes.map((node) => node.id)).not.toContain('sub:deep')
    const open = await server.client.assistants.getGraph('nestedask', { xray })
    expect(open.nodes.map((node) => node.id)).toContain('sub:deep')
  })

  it('has its schemas', async () => {
    const schemas = await server.client.assistants.getSchemas('configured')
    expect(schemas.graph_id).toBe('configured')
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining([
      'input_schema',
      'output_schema',
      'state_schema',
      'config_schema',
      'context_schema',
    ]))
    expect(schemas.context_schema).toMatchObject({ properties: { model_name: {} } })
  })

  it('is answered to a GET with a content-type of JSON and no body', async () => {
    const answer = await ask(server.url, 'GET', '/assistants/echo/schemas', undefined, {
      'content-type': 'application/json',
    })
    expect(answer.status).toBe(200)
  })

  it('has its subgraphs by namespace', async () => {
    const all = await server.client.assistants.getSubgraphs('nested')
    expect(Object.keys(all)).toEqual(['sub'])
    expect(Object.keys(all['sub']!)).toEqual(expect.arrayContaining(
      ['input_schema', 'output_schema', 'state_schema'],
    ))
    expect(
      Object.keys(
        await server.client.assistants.getSubgraphs('nested', { namespace: 'sub', recurse: true }),
      ),
    ).toEqual(['sub'])
    expect(await server.client.assistants.getSubgraphs('nested', { namespace: 'nosuch' }))
      .toEqual({})
  })

  it('is 404 for an unknown assistant', async () => {
    const { assistants } = server.client
    await expect(assistants.getGraph('nosuch')).rejects.toMatchObject({ status: 404 })
    await expect(assistants.getSchemas(randomUUID())).rejects.toMatchObject({ status: 404 })
    await expect(assistants.get(randomUUID())).rejects.toMatchObject({ status: 404 })
  })
})

describe('the graph of a factory', () => {
  it('is shown as the configuration of the assistant makes it', async () => {
    const { assistants, runs } = server.client
    const nodes = ['first', 'second']
    const made = await assistants.create({ graphId: 'shaped', config: { configurable: { nodes } } })
    const { assistant_id: id } = made
    const names = async (name: string) =>
      (await assistants.getGraph(name)).nodes.map((node) => String(node.id))
    expect(await names(id)).toEqual(['__start__', 'first', 'second', '__end__'])
    expect(await names('shaped')).toEqual(['__start__', 'say', '__end__'])
    const { state_schema: schema } = await assistants.getSchemas(id)
    expect(Object.keys(schema!.properties!)).toEqual(['said', 'from_first', 'from_second'])
    expect(Object.keys(await assistants.getSubgraphs(id))).toEqual(['second'])
    expect(Object.keys(await assistants.getSubgraphs('shaped'))).toEqual(['say'])
    expect(await assistants.getSubgraphs(id, { namespace: 'say' })).toEqual({})
    expect(await runs.wait(null, id, { input: {} })).toMatchObject({ said: { text: 'inside' } })
    await assistants.update(id, { config: { configurable: { nodes: ['third'] } } })
    expect(await names(id)).toEqual(['__start__', 'third', '__end__'])
  })
})
