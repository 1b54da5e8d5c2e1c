/** The graphs of a project, however they are exported, and what the server says of itself. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

/** The part of an operation that describes its request. */
interface Described {
  readonly requestBody?: { content: Record<string, { example?: object }> }
}

const saidBy = async (graphId: string, payload: object = {}) =>
  await server.client.runs.wait(null, graphId, { input: { said: {} }, ...payload })

describe('a graph', () => {
  it.each(['plain', 'promised', 'defaulted'])('may be exported %s', async (graphId) => {
    expect(await saidBy(graphId)).toEqual({ said: { text: graphId } })
  })

  it('may be made by a function, which is called for each run', async () => {
    expect(await saidBy('factory', { config: { configurable: { customer: 'ada' } } }))
      .toEqual({ said: { text: 'made for ada' } })
    expect(await saidBy('factory', { config: { configurable: { customer: 'bob' } } }))
      .toEqual({ said: { text: 'made for bob' } })
    expect(await saidBy('factory')).toEqual({ said: { text: 'made for nobody' } })
  })

  it('whose function needs a configuration is read with that of the latest run', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const config = { configurable: { customer: 'ada', langgraph_auth_user_id: 'root' } }
    const values = await runs.wait(id, 'needy', { input: { said: {} }, config })
    expect(values).toEqual({ said: { text: 'made for ada' } })
    expect(await threads.getState(id)).toMatchObject({ values, next: [] })
    expect(await threads.getHistory(id)).toHaveLength(3)
    await threads.updateState(id, { values: { said: { text: 'edited' } }, asNode: 'say' })
    expect(await threads.getState(id)).toMatchObject({ values: { said: { text: 'edited' } } })
    await expect(runs.wait(id, 'needy', { input: { said: {} } })).rejects
      .toThrow('who is the customer?')
  })

  it('of the functional API runs, interrupts and continues without repeating its tasks',
    async () => {
      const { runs, threads } = server.client
      const { thread_id: id } = await threads.create()
      const first = await runs.wait(id, 'functional', { input: { number: 2 } })
      expect(first).toMatchObject({ __interrupt__: [{ value: 'sure?' }] })
      const values = await runs.wait(id, 'functional', { command: { resume: 'yes' } })
      expect(values).toEqual({ number: 8, sure: 'yes' })
    })

  it('reads files beside it, wherever the server was started', async () => {
    expect(await saidBy('reader')).toEqual({ said: { text: 'hello' } })
  })

  it('calls other graphs by a client without a URL, but not while graphs are loaded', async () => {
    const input = { messages: [{ role: 'user', content: 'hello' }] }
    const { messages } = await server.client.runs.wait(null, 'calling', { input }) as {
      messages: { content: string }[]
    }
    expect(messages.slice(1).map(({ content }) => content)).toEqual(['echo: hello',
      expect.stringContaining('This server cannot be asked while its graphs are loaded.'),
      '200 200'])
  })

  it('has another graph of its server as a node, on a thread of its own', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const values = await runs.wait(id, 'delegating', { input: say('hello') })
    expect(texts(values)).toEqual(['hello', 'echo: hello'])
    expect(await runs.list(id)).toHaveLength(1)
  })

  it('may jump, fan out and loop', async () => {
    const values = async (graphId: string, input: Record<string, unknown>) =>
      await server.client.runs.wait(null, graphId, { input })
    expect(await values('jump', { topic: 'right' })).toMatchObject({ log: ['choose', 'right'] })
    expect(await values('fanout', { words: ['a', 'b', 'c'] }))
      .toMatchObject({ loud: ['A', 'B', 'C'] })
  })
})

describe('a node that changes state in place', () => {
  it('shows the same state in every answer', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const card = { title: 't', marks: 0 }
    const waited = await runs.wait(id, 'inplace', { input: { cards: [card] } })
    expect((await threads.getState(id)).values).toEqual(waited)
    const again = await runs.wait(id, 'inplace', { input: { cards: [] } })
    expect((await threads.getState(id)).values).toEqual(again)
    expect((await threads.get(id)).values).toEqual(again)
  })
})

describe('the server', () => {
  it('says that it is healthy, and what it is', async () => {
    expect(await ask(server.url, 'GET', '/ok')).toMatchObject({ status: 200, body: { ok: true } })
    expect(await ask(server.url, 'GET', '/info')).toMatchObject({
      status: 200,
      body: { version: expect.any(String), flags: { assistants: true } },
    })
  })

  it('describes every operation that it offers', async () => {
    const { status, body } = await ask(server.url, 'GET', '/openapi.json')
    expect(status).toBe(200)
    const { openapi, paths } = body as { openapi: string; paths: Record<string, object> }
    expect(openapi).toMatch(/^3\./)
    const offered = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.replaceAll(/\{\w+\}/g, '*')}`)
    )
    expect(offered).toEqual(expect.arrayContaining([
      'post /assistants',
      'patch /assistants/*',
      'post /assistants/*/latest',
      'post /threads',
      'post /threads/*/copy',
      'post /threads/search',
      'get /threads/*',
      'get /threads/*/state',
      'get /threads/*/state/*',
      'post /threads/*/history',
      'post /threads/*/runs',
      'post /threads/*/runs/stream',
      'post /threads/*/runs/wait',
      'get /threads/*/runs/*/join',
      'post /runs/stream',
      'post /runs/wait',
      'get /ok',
      'get /info',
    ]))
  })

  it('accepts the example that it gives of each body', async () => {
    const { body } = await ask(server.url, 'GET', '/openapi.json')
    const { paths } = body as { paths: Record<string, Record<string, Described>> }
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { requestBody }] of Object.entries(methods)) {
        const json = requestBody?.content['application/json']
        // Bodies of the platform and of the hosted control API have no examples yet.
        if (!json || /^\/(api|control\/hosted)\//.test(path)) continue
        const { example } = json
        const { status, body: answer } = await fetch(
          server.url + path.replace('{revision}', 'r12').replace('{name}', 'MODEL_KEY')
            .replaceAll(/\{\w+\}/g, randomUUID()),
          { method: method.toUpperCase(), headers: { 'content-type': 'application/json' },
            body: JSON.stringify(example ?? 'there is none') },
        )
        // Some answers are streams without an end.
        await answer?.cancel()
        expect.soft([method, path, status])
          .toEqual([method, path, expect.toBeOneOf([200, 201, 202, 204, 404])])
      }
    }
  })

  it('answers HEAD requests for /ok', async () => {
    const answer = await fetch(`${server.url}/ok`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })

  it('shows that description as a page', async () => {
    const answer = await fetch(`${server.url}/docs`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/html')
  })
})
