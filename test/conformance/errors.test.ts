/** Requests that cannot be served: each is answered, and the next request works. */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { useTenant } from '../support/tenant.ts'
import { ask, dial, hear, messageOf } from '../support/wire.ts'

const server = useServer()
const unknown = randomUUID()

const answersARun = async () =>
  expect(texts(await server.client.runs.wait(null, 'echo', { input: say('next') })))
    .toEqual(['next', 'echo: next'])

// By day a search is the next request of most, and a run the last of all.
afterEach(async () => {
  if (isNight) await answersARun()
  else expect((await ask(server.url, 'POST', '/threads/search', { limit: 1 })).status).toBe(200)
})
afterAll(answersARun)

describe('a body that is not JSON', () => {
  it.each(['{', '{"a":1', 'hello', '{"a":undefined}', '[1,]', '\u0000'])('is 400: %s',
    async (body) => {
      const answer = await ask(server.url, 'POST', '/threads', body)
      expect(answer.status).toBe(400)
      expect(messageOf(answer)).toMatch(/JSON/)
    })

  it('is refused in another format', async () => {
    const answer = await ask(server.url, 'POST', '/threads', 'a: 1', {
      'content-type': 'application/yaml',
    })
    expect(answer.status).toBeOneOf([400, 415, 422])
    messageOf(answer)
  })
})

describe('a body of the wrong shape', () => {
  it.each([
    ['/threads', { metadata: 'x' }, 'metadata'],
    ['/threads', { thread_id: 'not-a-uuid' }, 'thread_id'],
    ['/threads', { if_exists: 'explode' }, 'if_exists'],
    ['/threads', { supersteps: [{ values: {} }] }, 'updates'],
    ['/threads', [], ''],
    ['/assistants', {}, 'graph_id'],
    ['/assistants', { graph_id: 7 }, 'graph_id'],
    ['/assistants', { graph_id: 'echo', assistant_id: 'x' }, 'assistant_id'],
    ['/assistants/search', { limit: 'many' }, 'limit'],
    ['/runs/wait', { input: {} }, 'assistant_id'],
    ['/runs/wait', { assistant_id: 'echo', stream_mode: ['colour'] }, 'stream_mode'],
    ['/runs/wait', { assistant_id: 'echo', config: { recursion_limit: 'x' } }, 'recursion_limit'],
    ['/runs/wait', { assistant_id: 'echo', interrupt_before: 3 }, 'interrupt_before'],
    [`/threads/${unknown}/runs`, { assistant_id: 'echo', multitask_strategy: 'hope' },
      'multitask_strategy'],
    ['/runs/wait', { assistant_id: 'echo', durability: 'maybe' }, 'durability'],
    ['/runs/wait', { assistant_id: 'echo', after_seconds: -1 }, 'after_seconds'],
  ])('%s is 422 and names the field: %j', async (path, body, field) => {
    const answer = await ask(server.url, 'POST', path, body)
    expect(answer.status).toBe(422)
    expect(messageOf(answer)).toContain(field)
  })

  it('names every field that is wrong', async () => {
    const answer = await ask(server.url, 'POST', '/threads/search', { limit: 'x', offset: -1,
      status: 'asleep' })
    expect(answer.status).toBe(422)
    for (const field of ['limit', 'offset', 'status']) {
      expect(JSON.stringify(answer.body)).toContain(field)
    }
  })

  it('is refused in the query too', async () => {
    const { thread_id: id } = await server.client.threads.create()
    for (const query of ['limit=x', 'limit=0', 'offset=-1', 'status=asleep']) {
      expect((await ask(server.url, 'GET', `/threads/${id}/runs?${query}`)).status).toBe(422)
    }
  })
})

describe('something unknown', () => {
  it.each([
    ['GET', `/threads/${unknown}`],
    ['PATCH', `/threads/${unknown}`],
    ['DELETE', `/threads/${unknown}`],
    ['POST', `/threads/${unknown}/copy`],
    ['GET', `/threads/${unknown}/state`],
    ['POST', `/threads/${unknown}/state`],
    ['POST', `/threads/${unknown}/history`],
    ['GET', `/threads/${unknown}/runs`],
    ['GET', `/threads/${unknown}/runs/${unknown}`],
    ['GET', `/threads/${unknown}/runs/${unknown}/join`],
    ['GET', `/threads/${unknown}/runs/${unknown}/stream`],
    ['POST', `/threads/${unknown}/runs/${unknown}/cancel`],
    ['DELETE', `/threads/${unknown}/runs/${unknown}`],
    ['GET', `/assistants/${unknown}`],
    ['DELETE', `/assistants/${unknown}`],
    ['GET', `/assistants/${unknown}/graph`],
    ['GET', `/assistants/${unknown}/schemas`],
    ['GET', '/nosuch'],
    ['POST', '/threads/a/b/c/d'],
  ])('is 404 with a sentence: %s %s', async (method, path) => {
    const body = method === 'POST' && path.endsWith('/state')
      ? { values: {} }
      : method === 'PATCH'
      ? { metadata: {} }
      : undefined
    const answer = await ask(server.url, method, path, body)
    expect(answer.status).toBe(404)
    expect(messageOf(answer).length).toBeGreaterThan(10)
  })

  it('is called a run if it was asked for as a run without a thread', async () => {
    const answer = await ask(server.url, 'GET', `/runs/${unknown}/stream`)
    expect([answer.status, messageOf(answer)]).toEqual([404, `Run ${unknown} not found.`])
  })

  it.each(['GET /threads/not-a-uuid', 'GET /threads/not-a-uuid/state', 'GET /threads/%00/runs',
    'GET /assistants/%F0%9F%92%A9'])('is 404 or 422 if its id is malformed: %s',
      async (request) => {
        const [method, path] = request.split(' ') as [string, string]
        const answer = await ask(server.url, method, path)
        expect(answer.status).toBeOneOf([404, 422])
        messageOf(answer)
      })

  it('is 400, 404 or 422 if its path cannot be decoded', async () => {
    const answer = await ask(server.url, 'GET', '/threads/%E0%A4%A')
    expect(answer.status).toBeOneOf([400, 404, 422])
    messageOf(answer)
  })

  it('is 400 if its path may lead to another one behind a proxy', async () => {
    const answer = await ask(server.url, 'GET', '/threads/..%2F..%2Fetc')
    expect(answer.status).toBe(400)
    messageOf(answer)
  })
})

describe('strange but valid input', () => {
  it('is kept as it is', async () => {
    const { threads } = server.client
    const own = randomUUID()
    const metadata = JSON.parse(String.raw`{ "own": "${own}",
      "null\u0000byte": "a\u0000b", "quote\"\\": "'; DROP TABLE threads; --", "emoji": "💩",
      "": { "__proto__": { "polluted": true }, "constructor": 1 }, "half": "\ud83d", "$eq": [[]]
    }`) as Record<string, unknown>
    const { thread_id: id } = await threads.create({ metadata })
    expect((await threads.get(id)).metadata).toEqual(metadata)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(await threads.search({ metadata: { own, 'quote"\\': "'; DROP TABLE threads; --" } }))
      .toHaveLength(1)
  })

  it('is refused or kept if it is nested deeply, and crashes nothing', async () => {
    const deep = '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)
    const answer = await ask(server.url, 'POST', '/threads', `{"metadata":${deep}}`)
    expect(answer.status).toBeOneOf([200, 400, 413, 422])
  })
})

describe('a body that is too large', () => {
  /** Nobody else lists what is so large. */
  const tenant = useTenant()
  const large = `{"metadata":{"filler":"${'x'.repeat(50_000_000)}"}}`

  it('is 413', async () => {
    const answer = await tenant.ask('POST', '/threads', large)
      // The server may close the connection while the client still writes.
      .catch((caught: Error) => caught)
    if (answer instanceof Error) return
    expect(answer.status).toBe(413)
    expect(messageOf(answer)).toMatch(/large/i)
  })

  it('is fine up to the limit of 25 MiB', async () => {
    const answer = await tenant.ask('POST', '/assistants',
      `{"graph_id":"echo","context":{"filler":"${'x'.repeat(24 * 1024 * 1024)}"}}`)
    expect(answer.status).toBe(200)
    const { assistant_id: id } = answer.body as { assistant_id: string }
    await tenant.client.assistants.delete(id)
  })
})

describe('metadata longer than 64 KB', () => {
  const long = { x: 'y'.repeat(64 * 1024) }
  const half = { z: 'y'.repeat(40 * 1024) }
  const message = 'metadata: must not be longer than 64 KB of JSON.'

  it.each([
    ['of a thread', '/threads', { metadata: long }],
    ['of an assistant', '/assistants', { graph_id: 'echo', metadata: long }],
    ['of a run', '/runs/wait', { assistant_id: 'echo', input: {}, metadata: long }],
  ])('%s is 422', async (_, path, body) => {
    const answer = await ask(server.url, 'POST', path, JSON.stringify(body))
    expect(answer).toMatchObject({ status: 422, body: { message } })
  })

  it('is 422 if an update makes it so long', async () => {
    const { client } = server
    const merged = { status: 422,
      body: { message: 'metadata: with this it would be longer than 64 KB of JSON.' } }
    const { thread_id: threadId } = await client.threads.create({ metadata: half })
    const more = JSON.stringify({ metadata: { x: half.z } })
    expect(await ask(server.url, 'PATCH', `/threads/${threadId}`, more)).toMatchObject(merged)
    expect((await client.threads.get(threadId)).metadata).toEqual(half)
    const { assistant_id: id } = await client.assistants.create({ graphId: 'echo', metadata: half })
    expect(await ask(server.url, 'PATCH', `/assistants/${id}`, more)).toMatchObject(merged)
    await client.threads.delete(threadId)
    await client.assistants.delete(id)
  })
})

describe('a connection that misbehaves', () => {
  const head = () =>
    `POST /threads HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n`
    + 'Content-Type: application/json\r\n'

  it('may be one of a thousand that are open at once', async () => {
    const sockets: Socket[] = []
    try {
      while (sockets.length < 1_000) {
        sockets.push(...await Promise.all(
          Array.from({ length: 100 }, () => dial(server.url)),
        ))
      }
      const begun = `${head()}Content-Length: 9\r\n\r\n{`
      for (const socket of sockets.slice(0, 500)) socket.write(begun)
      expect((await ask(server.url, 'GET', '/ok')).status).toBe(200)
      const { thread_id: id } = await server.client.threads.create()
      expect(texts(await server.client.runs.wait(id, 'echo', { input: say('x') }))).toHaveLength(2)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })
})

describe('another web site', () => {
  it('cannot read from a local server', async () => {
    const answer = await ask(server.url, 'GET', '/info', undefined, {
      origin: 'https://evil.example',
    })
    expect(answer.headers.get('access-control-allow-origin')).not.toBe('*')
    expect(answer.headers.get('access-control-allow-origin')).not.toBe('https://evil.example')
    const socket = await dial(server.url)
    socket.write('GET /assistants/echo HTTP/1.1\r\nHost: evil.example\r\n\r\n')
    expect(await hear(socket, (received) => received.includes('\r\n\r\n'))).toMatch(
      /^HTTP\/1.1 4\d\d /,
    )
    socket.destroy()
  })

  it('on the same machine can, headers included', async () => {
    const origin = 'http://localhost:3000'
    const answer = await ask(server.url, 'POST', '/threads/search', {}, { origin })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ')
    for (const header of ['content-location', 'location', 'x-pagination-total',
      'x-pagination-next']) expect(exposed).toContain(header)
  })
})
