/** Who may send commands to a thread and see its events, over HTTP and over WebSocket. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { openKeyMaker } from '../support/keys.ts'
import type { KeyMaker } from '../support/keys.ts'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { issuer, keySetFile, token } from '../support/sessions.ts'
import { allChannels, WatchedThread } from '../support/thread-stream.ts'
import { ask } from '../support/wire.ts'

type Json = Record<string, unknown>

let server: ServerProcess
let maker: KeyMaker
let key: string
let other: string
let reader: string

beforeAll(async () => {
  server = await startServer({ project: 'conformance',
    args: ['--auth', 'keys', '--jwt-issuer', issuer, '--jwt-keys', keySetFile(), '--quota-streams',
      '10'] })
  maker = await openKeyMaker({ dataDir: server.dataDir })
  ;[key, other, reader] = await Promise.all([maker.make('acme'), maker.make('other'),
    maker.make('acme', 'reader')])
})

afterAll(async () => {
  await maker?.close()
  await server?.close()
})

interface Dialled {
  readonly socket: WebSocket
  readonly frames: Json[]
  readonly closed: Promise<number>
  ask(method: string, params: object, id: number): Promise<Json>
}

function dialled(threadId: string,
  { headers = {}, protocols = [] }: { headers?: Record<string, string>;
    protocols?: string[] }): Dialled {
  const url = `${server.url.replace('http', 'ws')}/threads/${threadId}/stream/events`
  const socket = new WebSocket(url, protocols, { headers })
  onTestFinished(() => socket.terminate())
  const frames: Json[] = []
  const opened = new Promise((resolve) => socket.once('open', resolve))
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json))
  return {
    socket,
    frames,
    closed: new Promise((resolve) => socket.once('close', resolve)),
    ask: async (method, params, id) => {
      await opened
      socket.send(JSON.stringify({ id, method, params }))
      await expect.poll(() => frames.find((frame) => frame.id === id)).toBeDefined()
      return frames.find((frame) => frame.id === id)!
    },
  }
}

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
    for await (const chunk of response.body!) {
      expect(Buffer.from(chunk as Uint8Array).toString()).toBe(': heartbeat\n')
      break
    }
    // The same id in the other tenant is another thread.
    const { result } = await foreign.ask('run.start', { assistant_id: 'echo', input: say('x') }, 3)
    const { run_id } = result as { run_id: string }
    await expect.poll(() => JSON.stringify(foreign.frames)).toContain('"completed"')
    expect(JSON.stringify(foreign.frames)).not.toContain('only for acme')
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

  it('takes the key or the token of a page as a protocol, and never answers with it', async () => {
    for (const credential of [`heddle.key.${key}`, `heddle.token.${token()}`]) {
      const { socket, ask: send } = dialled(randomUUID(), { protocols: ['heddle', credential] })
      expect(await send('subscription.subscribe', subscribe, 1)).toMatchObject({ type: 'success' })
      expect(socket.protocol).toBe('heddle')
      socket.terminate()
    }
  })

  it.runIf(isNight)('is closed for good when its key is revoked', async () => {
    const row = await maker.keyAdmin.create({ tenant: 'acme', role: 'developer', name: 'short',
      expiresInMs: null })
    const socket = dialled(randomUUID(), { headers: { 'x-api-key': row.key } })
    await socket.ask('subscription.subscribe', subscribe, 1)
    await maker.keyAdmin.revoke(row.id)
    expect(await socket.closed).toBe(4401)
  })

  it('counts as a stream of its tenant', async () => {
    const own = await maker.make('crowded')
    const sockets = Array.from({ length: 11 },
      () => dialled(randomUUID(), { headers: { 'x-api-key': own } }))
    expect(await Promise.any(sockets.map(({ closed }) => closed))).toBe(4429)
    for (const { socket } of sockets) socket.terminate()
    await expect.poll(async () => {
      const { ask: send, closed } = dialled(randomUUID(), { headers: { 'x-api-key': own } })
      return await Promise.race([closed, send('subscription.subscribe', subscribe, 1)])
    }).toMatchObject({ type: 'success' })
  })
})
