/** A WebSocket on a thread: commands, subscriptions, bad frames, slow readers, and how it ends. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { ClientOptions } from 'ws'

import { HeddleError } from '../../../../src/errors.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { threadEvent, viewOf } from '../fake-threads.ts'
import { openDoor, plainStatus } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const threadId = '0198a2f0-0000-7000-8000-000000000001'
const path = `/threads/${threadId}/stream/events`

type Json = Record<string, unknown>

interface Client {
  readonly socket: WebSocket
  /** Every frame that came. */
  readonly frames: Json[]
  /** Resolves with code and reason. */
  readonly closed: Promise<readonly [code: number, reason: string]>
  ask(method: string, params?: unknown, id?: number): Promise<Json>
}

const eventsOf = (door: OpenDoor, tenant = 'local') => door.threads.eventsOf(tenant, threadId)

function dialSocket(door: { readonly url: string }, at = path, options: ClientOptions = {},
  protocols: readonly string[] = []): Client {
  const socket = new WebSocket(door.url.replace('http', 'ws') + at, [...protocols], options)
  onTestFinished(() => socket.terminate())
  const frames: Json[] = []
  const waiting = new Map<unknown, (frame: Json) => void>()
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Json
    frames.push(frame)
    if (frame.type !== 'event') waiting.get(frame.id)?.(frame)
  })
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.once('close', (code, reason) => resolve([code, reason.toString()]))
  })
  const ask = (method: string, params?: unknown, id = 1) => {
    const answer = new Promise<Json>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    return answer
  }
  return { socket, frames, closed, ask }
}

async function open(options: Partial<FrontDoorOptions> = {}) {
  const door = await openDoor(options)
  const client = dialSocket(door)
  await new Promise((resolve, reject) => client.socket.once('open', resolve).once('error', reject))
  return { ...client, door }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const idsOf = (frames: readonly Json[]) =>
  frames.filter(({ type }) => type === 'event').map(({ event_id }) => event_id)

describe('a socket', () => {
  it('carries commands, as HTTP does', async () => {
    const { ask, door } = await open()
    expect(await ask('run.start', { assistant_id: 'agent', input: {} }, 3)).toMatchObject({
      type: 'success',
      id: 3,
      result: { run_id: door.threads.lastRun.row.runId },
      meta: { thread_id: threadId },
    })
    expect(await ask('run.start', {})).toMatchObject({ type: 'error', error: 'invalid_argument' })
    expect(await ask('what')).toMatchObject({ type: 'error', error: 'unknown_command' })
    expect(await ask('state.get', { namespace: [] }))
      .toMatchObject({ type: 'error', error: 'invalid_argument' })
  })

  it('answers a subscription before its events, which begin with the past', async () => {
    const { ask, frames, door } = await open()
    eventsOf(door).notify([threadEvent(1), threadEvent(2, { method: 'updates' })])
    const answer = await ask('subscription.subscribe', { channels: ['values'] })
    expect(answer).toMatchObject({ type: 'success',
      result: { subscription_id: expect.any(String), replayed_events: 1 } })
    eventsOf(door).notify([threadEvent(3)])
    await expect.poll(() => idsOf(frames)).toEqual(['e1', 'e3'])
    expect(frames[0]).toBe(answer)
    expect(await ask('subscription.subscribe', { channels: ['values'], since: 1 }))
      .toMatchObject({ result: { replayed_events: 1 } })
    expect(await ask('subscription.subscribe', { channels: ['values'], since: 3 }))
      .toMatchObject({ result: { replayed_events: 0 } })
  })

  it.each([['Python/3.11 websockets/17.4', 'failed'], ['acme-crm/2.1', 'failed'], ['node',
    'interrupted']])(
      'of %s gets a cancelled run as %s',
      async (agent, event) => {
        const door = await openDoor()
        const client = dialSocket(door, path, { headers: { 'user-agent': agent } })
        await new Promise((resolve) => client.socket.once('open', resolve))
        await client.ask('subscription.subscribe', { channels: ['lifecycle'], since: 0 })
        eventsOf(door).notify([
          threadEvent(1, { method: 'lifecycle',
            data: '{"event":"interrupted","reason":"cancelled"}' }),
        ])
        await expect.poll(() => client.frames.at(-1)).toMatchObject({ type: 'event',
          params: { data: { event } } })
      },
    )

  it('stays open and carries events for an hour while its client responds to pings', async () => {
    const { ask, frames, door, socket } = await open()
    await ask('subscription.subscribe', { channels: ['lifecycle'] })
    let pings = 0
    socket.on('ping', () => pings++)
    for (let ping = 1; ping <= 180; ping++) {
      door.env.advance(20_000)
      // The client responds to each ping before the next.
      await expect.poll(() => pings, { interval: 1 }).toBe(ping)
      if (ping % 60 !== 0) continue
      eventsOf(door).notify([
        threadEvent(ping, { method: 'lifecycle', data: '{"event":"completed"}' }),
      ])
      await expect.poll(() => idsOf(frames).at(-1)).toBe(`e${ping}`)
    }
    expect(socket.readyState).toBe(WebSocket.OPEN)
    expect(idsOf(frames)).toEqual(['e60', 'e120', 'e180'])
  })

  it('filters for each subscription, and sends an event once', async () => {
    const { ask, frames, door } = await open()
    await ask('subscription.subscribe', { channels: ['values'] })
    const { result } = await ask('subscription.subscribe', { channels: ['values', 'updates'] })
    eventsOf(door).notify([threadEvent(1), threadEvent(2, { method: 'updates' })])
    await expect.poll(() => idsOf(frames)).toEqual(['e1', 'e2'])
    const { subscription_id } = result as { subscription_id: string }
    expect(await ask('subscription.unsubscribe', { subscription_id }))
      .toMatchObject({ type: 'success', result: {} })
    eventsOf(door).notify([threadEvent(3, { method: 'updates' }), threadEvent(4)])
    await expect.poll(() => idsOf(frames)).toEqual(['e1', 'e2', 'e4'])
    expect(await ask('subscription.unsubscribe', { subscription_id }))
      .toMatchObject({ error: 'no_such_subscription' })
    expect(eventsOf(door).listeners.size).toBe(1)
  })

  it('sends one past, in its order, to subscriptions of one moment', async () => {
    const { ask, frames, door } = await open()
    const end = threadEvent(3, { method: 'lifecycle', data: '{"event":"completed"}' })
    eventsOf(door).notify([threadEvent(1), threadEvent(2), end])
    await Promise.all([
      ask('subscription.subscribe', { channels: ['lifecycle'] }, 1),
      ask('subscription.subscribe', { channels: ['lifecycle', 'values'] }, 2),
    ])
    await expect.poll(() => idsOf(frames)).toEqual(['e1', 'e2', 'e3'])
    expect(frames.slice(0, 2).map(({ id }) => id)).toEqual([1, 2])
  })

  it('does not disturb another one on the same thread', async () => {
    const { ask, socket, door } = await open()
    const other = dialSocket(door)
    await new Promise((resolve) => other.socket.once('open', resolve))
    await ask('subscription.subscribe', { channels: ['values'] })
    await other.ask('subscription.subscribe', { channels: ['values'] })
    socket.close()
    await expect.poll(() => eventsOf(door).listeners.size).toBe(1)
    eventsOf(door).notify([threadEvent(1)])
    await expect.poll(() => idsOf(other.frames)).toEqual(['e1'])
  })

  it.each([
    ['what is no JSON', '{'],
    ['a list', '[]'],
    ['no id', '{"method":"state.get"}'],
    ['a negative id', '{"id":-1}'],
    ['bytes', Buffer.from('{"id":1}')],
    ['a long text', JSON.stringify('x'.repeat(300_000))],
  ])('answers %s with an error, and stays', async (_name, frame) => {
    const { socket, frames, ask } = await open()
    socket.send(frame)
    await expect.poll(() => frames).toHaveLength(1)
    expect(frames[0]).toMatchObject({ type: 'error', id: null, error: 'invalid_argument' })
    expect(await ask('subscription.reconnect')).toMatchObject({ error: 'not_supported' })
  })

  it.each([
    [undefined],
    [null],
    ['x'],
    [{ channels: 'values' }],
    [{ channels: [] }],
    [{ channels: ['values'], namespaces: [5] }],
    [{ channels: ['values'], depth: 'x' }],
  ])('refuses to subscribe with %j', async (params) => {
    const { ask, door } = await open()
    expect(await ask('subscription.subscribe', params)).toMatchObject({ type: 'error',
      error: 'invalid_argument' })
    expect(eventsOf(door).listeners.size).toBe(0)
  })

  it('bounds subscriptions: two thousand are as many answers, and one follow', async () => {
    const { ask, frames, door } = await open()
    for (let id = 2; id <= 2_000; id++) {
      void ask('subscription.subscribe', { channels: ['values'] }, id)
    }
    await ask('subscription.subscribe', { channels: ['values'] }, 2_001)
    expect(frames.filter(({ type }) => type === 'success')).toHaveLength(200)
    expect(frames).toHaveLength(2_000)
    expect(eventsOf(door).listeners.size).toBe(1)
  })

  it('carries out commands in the order in which they came', async () => {
    const { ask, door } = await open()
    const numbers = Array.from({ length: 50 }, (_, n) => n)
    await Promise.all(
      numbers.map((n) => ask('run.start', { assistant_id: 'agent', input: { n } }, n)),
    )
    const inputs = door.threads.calls.filter(({ name }) => name === 'startRun')
      .map(({ given }) => (given as { kwargs: { input: { n: number } } }).kwargs.input.n)
    expect(inputs).toEqual(numbers)
  })

  it('is closed by a frame that is longer than a body may be', async () => {
    const { socket, closed } = await open({ bodyLimitBytes: 200_000 })
    socket.send('x'.repeat(200_001))
    expect((await closed)[0]).toBe(1009)
  })

  it('is cut off while it sends a long frame if there is no room for it', async () => {
    const { socket, closed, door } = await open({ bodiesLimitBytes: 1_000_000 })
    socket.send('x'.repeat(2_000_000), { fin: false })
    await turn()
    const other = dialSocket(door)
    await new Promise((resolve) => other.socket.once('open', resolve))
    other.socket.send('x'.repeat(200_000), { fin: false })
    expect((await Promise.race([closed, other.closed]))[0]).toBeOneOf([1006, 4429])
  })

  it('charges each frame, and says which one was refused', async () => {
    let left = 2
    const { ask } = await open({ limit: async () => {
      if (left-- <= 0) throw new HeddleError('limited', 'Too many.', { retryAfterSeconds: 9 })
    } })
    expect(await ask('subscription.reconnect', {}, 1)).toMatchObject({ error: 'not_supported' })
    expect(await ask('subscription.reconnect', {}, 2)).toMatchObject({ type: 'error', id: 2,
      message: 'Too many.', meta: { retry_after_seconds: 9 } })
  })

  it('answers pings', async () => {
    const { socket } = await open()
    const pong = new Promise((resolve) => socket.once('pong', (data) => resolve(String(data))))
    socket.ping('x')
    expect(await pong).toBe('x')
  })
})

describe('a socket ends', () => {
  it('when the server closes, without a close frame', async () => {
    const { door, closed } = await open()
    await door.close(AbortSignal.abort())
    expect((await closed)[0]).toBe(1006)
  })

  it('when the thread cannot be followed any more', async () => {
    const { ask, door, closed } = await open()
    await ask('subscription.subscribe', { channels: ['values'] })
    for (const listener of eventsOf(door).listeners) listener.ended('lost')
    expect((await closed)[0]).toBe(1006)
  })

  it('when it reads nothing, and what waits for it is bounded', async () => {
    const { socket, ask, door } = await open()
    await ask('subscription.subscribe', { channels: ['values'] })
    socket.pause()
    const [listener] = eventsOf(door).listeners
    const data = JSON.stringify('x'.repeat(64 * 1024))
    let sent = 0
    while (eventsOf(door).listeners.size > 0 && sent < 1_000) {
      listener!.events([threadEvent(++sent, { data })])
      if (sent % 20 === 0) await turn()
    }
    expect(eventsOf(door).listeners.size).toBe(0)
    expect(sent).toBeLessThan(500)
  })

  it('not by subscriptions that each have a long past', async () => {
    const { socket, ask, door } = await open()
    const data = JSON.stringify('x'.repeat(600 * 1024))
    eventsOf(door).notify([threadEvent(1, { data }), threadEvent(2, { data })])
    socket.pause()
    const answers = Array.from({ length: 20 },
      (_, id) => ask('subscription.subscribe', { channels: ['values'] }, id))
    for (let turns = 0; turns < 500; turns++) await turn()
    expect(door.stats().replies.sse).toBe(1)
    socket.resume()
    expect((await Promise.all(answers)).map(({ type }) => type)).toEqual(
      answers.map(() => 'success'),
    )
  })

  it('when it sends pings and reads no answers', async () => {
    const { socket, door } = await open()
    socket.pause()
    const isOpen = () => door.stats().replies.sse > 0
    for (let sent = 0; isOpen() && sent < 400_000; sent++) {
      socket.ping('x'.repeat(125))
      if (sent % 1_000 === 0) await turn()
    }
    await expect.poll(isOpen).toBe(false)
  })

  it('when it sends commands and reads no answers: what waits is bounded', async () => {
    const { socket, door } = await open()
    door.threads.views.set(threadId, viewOf('local', threadId, {}))
    door.threads.state = async () => JSON.stringify({ values: { text: 'x'.repeat(100_000) } })
    socket.pause()
    for (let id = 0; id < 600; id++) socket.send(JSON.stringify({ id, method: 'state.get' }))
    let asked = 0
    const { state } = door.threads
    door.threads.state = (...given) => {
      asked++
      return state(...given)
    }
    await expect.poll(() => asked).toBeGreaterThan(1)
    for (let quiet = 0, before = -1; quiet < 200; quiet = asked === before ? quiet + 1 : 0) {
      before = asked
      await turn()
    }
    expect(asked).toBeLessThan(300)
    socket.resume()
    await expect.poll(() => asked).toBe(600)
  })

  it('when it answers no ping for long', async () => {
    const { socket, door, closed } = await open()
    socket.pause()
    door.env.advance(100_000)
    socket.resume()
    expect((await closed)[0]).toBe(1006)
  })

  it('with the client, which stops all its follows', async () => {
    const { socket, ask, door } = await open()
    await ask('subscription.subscribe', { channels: ['values'] })
    expect(door.stats().replies.sse).toBe(1)
    socket.terminate()
    await expect.poll(() => [eventsOf(door).listeners.size, door.stats().replies.sse])
      .toEqual([0, 0])
    await expect.poll(() => door.stats().requests).toBe(0)
  })
})

describe('a refusal is a close code', () => {
  it.each([
    ['/threads/x/stream/events', {}, 4422],
    [path, { headers: { origin: 'https://evil.example' } }, 4403],
    [path, { headers: { host: 'evil.example' } }, 4403],
  ] as const)('of %s with %j: %s', async (at, options, code) => {
    const [found, reason] = await dialSocket(await openDoor(), at, options).closed
    expect(found).toBe(code)
    expect(reason.length).toBeGreaterThan(10)
  })

  it('of a limit and of a quota', async () => {
    const limited = await openDoor({ limit: () => Promise.reject(new HeddleError('limited')) })
    expect((await dialSocket(limited).closed)[0]).toBe(4429)
  })
})

describe('a request that is no WebSocket', () => {
  it('to the same path learns what to send', async () => {
    const door = await openDoor()
    expect(await plainStatus(door.url, path)).toBe(422)
  })

  it('is answered as if it did not ask for another protocol', async () => {
    const door = await openDoor()
    const upgrade = (name: string) => ({ connection: 'upgrade, http2-settings', upgrade: name })
    expect(await plainStatus(door.url, '/ok', upgrade('h2c'))).toBe(200)
    expect(await plainStatus(door.url, '/ok', upgrade('websocket'))).toBe(200)
    expect(await plainStatus(door.url, path, upgrade('h2c'))).toBe(422)
    expect(await plainStatus(door.url, path, upgrade('websocket'))).toBe(400)
  })
})
