/** Who may send commands to a thread and see its events, over HTTP and over WebSocket. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialThread } from '../support/dialled-thread.ts'
import type { Credentials } from '../support/dialled-thread.ts'
import { openKeyMaker } from '../support/keys.ts'
import type { KeyMaker } from '../support/keys.ts'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { clientOf, useServer } from '../support/server.ts'
import { allChannels, WatchedThread } from '../support/thread-stream.ts'
import { ask } from '../support/wire.ts'

const server = useServer('keys')
let maker: KeyMaker
let [tenant, key, other, reader] = ['', '', '', '']

beforeAll(async () => {
  maker = await openKeyMaker(server.place)
  tenant = `of-threads-${randomUUID()}`
  ;[key, other, reader] = await Promise.all([maker.make(tenant),
    maker.make(`of-others-${randomUUID()}`), maker.make(tenant, 'reader')])
})
afterAll(() => maker?.close())

const dialled = (threadId: string, credentials: Credentials) =>
  dialThread(server.url, threadId, credentials)

const subscribe = { channels: [...allChannels] }

describe.skipIf(process.env['HEDDLE_TEST_URL'] !== undefined)('a thread', () => {
  it('shows its events to its tenant only, also to who names it before it exists', async () => {
    const threadId = randomUUID()
    const foreign = dialled(threadId, { headers: { 'x-api-key': other } })
    await foreign.ask('subscription.subscribe', subscribe, 1)
    const response = await fetch(`${server.url}/threads/${threadId}/stream/events`, {
      method: 'POST',
      headers: { 'x-api-key': other },
      body: JSON.stringify(subscribe),
    })
    expect(response.status).toBe(200)
    const client = clientOf(server.url, { 'x-api-key': key })
    const own = new WatchedThread(client, threadId, 'echo', 'sse')
    await own.subscribe()
    const runId = await own.start(say('only for acme'))
    expect(await own.ended(runId)).toBe('completed')
    expect(await foreign.ask('agent.getTree', {}, 2)).toMatchObject({ type: 'error' })
    expect(foreign.frames).toHaveLength(2)
    // The same id in the other tenant is another thread, whose events are the first that come.
    const { result } = await foreign.ask('run.start', { assistant_id: 'echo', input: say('x') }, 3)
    const { run_id } = result as { run_id: string }
    await expect.poll(() => JSON.stringify(foreign.frames)).toContain('"completed"')
    let streamed = ''
    for await (const chunk of response.body!) {
      streamed += Buffer.from(chunk as Uint8Array).toString()
      if (streamed.includes('"completed"')) break
    }
    for (const seen of [JSON.stringify(foreign.frames), streamed]) {
      expect(seen).toContain('echo: x')
      expect(seen).not.toContain('only for acme')
    }
    expect(JSON.stringify(own.events)).not.toContain(run_id)
  })

  it('may be read by a reader and not be changed', async () => {
    const threadId = randomUUID()
    await clientOf(server.url, { 'x-api-key': key }).threads.create({ threadId })
    const socket = dialled(threadId, { headers: { 'x-api-key': reader } })
    expect(await socket.ask('subscription.subscribe', subscribe, 1)).toMatchObject({
      type: 'success',
    })
    expect(await socket.ask('state.get', { namespace: [] }, 2)).toMatchObject({ type: 'success' })
    const params = { assistant_id: 'echo', input: {} }
    expect(await socket.ask('run.start', params, 3)).toMatchObject({ type: 'error',
      error: 'permission_denied' })
    for (const [method, status] of [['state.get', 200], ['run.start', 403], ['input.respond', 403],
      ['state.fork', 403]] as const) {
      const answer = await ask(server.url, 'POST', `/threads/${threadId}/commands`, { id: 1, method,
        params }, { 'x-api-key': reader })
      expect([method, answer.status]).toEqual([method, status])
    }
  })
})

describe.skipIf(process.env['HEDDLE_TEST_URL'] !== undefined)('a WebSocket', () => {
  it.each([
    ['no key', {}, 4401],
    ['a made-up key', { headers: { 'x-api-key': 'hdl_us_0123' } }, 4401],
    ['a made-up key as a protocol', { protocols: ['heddle', 'heddle.key.hdl_us_0123'] }, 4401],
    ['a made-up token', { protocols: ['heddle', 'heddle.token.a.b.c'] }, 4401],
  ])('with %s is closed', async (_name, credentials, code) => {
    expect(await dialled(randomUUID(), credentials).closed).toBe(code)
  })

  it('takes the key of a page as a protocol, and never answers with it', async () => {
    const { socket, ask: send } = dialled(randomUUID(), {
      protocols: ['heddle', `heddle.key.${key}`],
    })
    expect(await send('subscription.subscribe', subscribe, 1)).toMatchObject({ type: 'success' })
    expect(socket.protocol).toBe('heddle')
    socket.terminate()
  })

  it.runIf(isNight)('is closed for good when its key is revoked', async () => {
    const row = await maker.keyAdmin.create({ tenant, role: 'developer', name: 'short',
      expiresInMs: null })
    const socket = dialled(randomUUID(), { headers: { 'x-api-key': row.key } })
    await socket.ask('subscription.subscribe', subscribe, 1)
    await maker.keyAdmin.revoke(row.id)
    expect(await socket.closed).toBe(4401)
  })

  it('counts as a stream of its tenant', async () => {
    const own = await maker.make(`crowded-${randomUUID()}`)
    const sockets = Array.from({ length: 51 },
      () => dialled(randomUUID(), { headers: { 'x-api-key': own } }))
    expect(await Promise.any(sockets.map(({ closed }) => closed))).toBe(4429)
    for (const { socket } of sockets) socket.terminate()
    await expect.poll(async () => {
      const { ask: send, closed } = dialled(randomUUID(), { headers: { 'x-api-key': own } })
      return await Promise.race([closed, send('subscription.subscribe', subscribe, 1)])
    }).toMatchObject({ type: 'success' })
  })
})
