/**
 * Handlers of a login that throw, hang, return nonsense, change what they must not, or take all
 * that there is: over every wire a documented error, in time, with nothing done and nothing shown.
 */

import { createClient, ConnectError } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import { ThreadService } from '../../proto/gen/frontdoor/v1/thread_pb.js'
import { isNight } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { ask } from '../support/wire.ts'

const timeoutMs = 1_000
/** Time beside that limit which a slow machine may take. */
const slackMs = 3_000
const secret = 'the-password-of-the-database'

let server: ServerProcess
let thread: string
beforeAll(async () => {
  server = await startServer({ project: 'faults',
    args: [...oneWorker, '--app-timeout', String(timeoutMs / 1_000), '--worker-heap-mb', '128'] })
  const { body } = await as('ann', 'POST', '/threads', {})
  thread = (body as { thread_id: string }).thread_id
})
afterAll(() => server.close())

const as = (name: string, method: string, path: string, body?: unknown) =>
  ask(server.url, method, path, body, { authorization: `Bearer ${name}` })

const run = { assistant_id: 'agent', input: { messages: [] } }
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })

/** The status and the whole answer, by wire. Each would make something. */
const wires: Readonly<Record<string, (name: string) => Promise<readonly [unknown, string]>>> = {
  'REST': (name) => rest(name, 'POST', '/threads', {}),
  'a run': (name) => rest(name, 'POST', `/threads/${thread}/runs/wait`, run),
  'server-sent events': (name) => rest(name, 'POST', `/threads/${thread}/runs/stream`, run),
  'a command': (name) =>
    rest(name, 'POST', `/threads/${thread}/commands`, { id: 1, method: 'run.start', params: run }),
  'events of a thread': (name) =>
    rest(name, 'POST', `/threads/${thread}/stream/events`, { channels: ['values'] }),
  'a WebSocket': (name) => overSocket(name),
  'a typed call': (name) => overTypedCall(name),
  'a tool': (name) => rest(name, 'POST', '/mcp', rpc('tools/call', { name: 'agent' })),
  'an agent': (name) => rest(name, 'POST', '/a2a/agent', rpc('SendMessage', { message })),
  'a cron': (name) => rest(name, 'POST', '/runs/crons', { ...run, schedule: '0 0 1 1 *' }),
  'an item': (name) => rest(name, 'PUT', '/store/items', { namespace: ['a'], key: 'k', value: {} }),
}

async function rest(name: string, method: string, path: string,
  body: object): Promise<readonly [unknown, string]> {
  const answer = await as(name, method, path, body)
  return [answer.status, JSON.stringify([answer.body, [...answer.headers]])]
}

async function overSocket(name: string): Promise<readonly [unknown, string]> {
  const url = `${server.url.replace('http', 'ws')}/threads/${thread}/stream/events`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${name}` } })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  return await new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve([code, reason.toString()]))
    socket.once('open',
      () => socket.send(JSON.stringify({ id: 1, method: 'run.start', params: run })))
    socket.once('message', (data: Buffer) => {
      const { error } = JSON.parse(data.toString()) as { readonly error?: string }
      resolve([error, data.toString()])
    })
  })
}

async function overTypedCall(name: string): Promise<readonly [unknown, string]> {
  const transport = createConnectTransport({ baseUrl: server.url, httpVersion: '1.1' })
  try {
    const made = await createClient(ThreadService, transport).createThread({}, {
      headers: { authorization: `Bearer ${name}` },
    })
    return ['made', made.thread!.threadId]
  } catch (error) {
    const { code, rawMessage, metadata } = ConnectError.from(error)
    return [code, JSON.stringify([rawMessage, [...metadata]])]
  }
}

/** All that a user for whom nothing goes wrong sees. */
const seen = async () => ({
  threads: (await as('ann', 'POST', '/threads/count', {})).body,
  runs: (await as('ann', 'POST', '/runs/search', {})).body,
  crons: (await as('ann', 'POST', '/runs/crons/count', {})).body,
  items: (await as('ann', 'POST', '/store/items/search', { namespace_prefix: [] })).body,
})

const names = Object.keys(wires)
const unavailable = 14
const unknown = 'unknown_error'

/** The outcome of each wire for a fault that HTTP answers with this status. */
function outcomes(status: number, socket: unknown): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(names.map((name) => [name, status])), 'a WebSocket': socket,
    'a typed call': unavailable }
}

async function outcomesOf(name: string): Promise<Readonly<Record<string, unknown>>> {
  const startedMs = performance.now()
  const found = await Promise.all(names.map(async (wire) => {
    const [outcome, answer] = await wires[wire]!(name)
    expect([wire, answer.includes(secret) || answer.includes('auth.ts')]).toEqual([wire, false])
    return [wire, outcome] as const
  }))
  expect(performance.now() - startedMs).toBeLessThan(timeoutMs + slackMs)
  return Object.fromEntries(found)
}

describe('a handler', () => {
  it.each(
    [['throws', 500], ['nonsense', 500], ['wider', 500], ['changes', 500], ['hangs', 503],
      ...isNight ? [['rejects', 500], ['forgets', 500]] as const : []] as const,
  )('that %s is %i over every wire', async (fault, status) => {
    const before = await seen()
    // The namespace that it leaves is checked like one of a request.
    const ofItem = fault === 'changes' ? { 'an item': 422 } : {}
    expect(await outcomesOf(`on-${fault}`)).toEqual({ ...outcomes(status, unknown), ...ofItem })
    expect(await seen()).toEqual(before)
  })
})

describe('authenticate', () => {
  it.each(
    [['throws', 500], ['nonsense', 200], ['hangs', 503],
      ...isNight ? [['rejects', 500]] as const : []] as const,
  )(
    'that %s is %i over every wire, and for routes of an app',
    async (fault, status) => {
      const asksApp = as(`at-${fault}`, 'GET', '/hello').then(({ status: ofApp, body }) =>
        expect([ofApp, JSON.stringify(body)]).toEqual([status, expect.not.stringContaining(secret)])
      )
      // A text is an identity.
      if (fault === 'nonsense') return await asksApp
      const before = await seen()
      const closed = status === 503 ? 4503 : expect.toBeOneOf([4500, 4503])
      expect(await outcomesOf(`at-${fault}`)).toEqual(outcomes(status, closed))
      expect(await seen()).toEqual(before)
      await asksApp
    },
  )
})

describe('the thread of a login', () => {
  it('that is asked by a hundred who hang answers others meanwhile', async () => {
    const hung = Promise.all(
      Array.from({ length: 100 }, () => as('on-hangs', 'POST', '/threads', {})),
    )
    const startedMs = performance.now()
    for (let n = 0; n < 5; n++) {
      expect((await as('ann', 'GET', `/threads/${thread}`)).status).toBe(200)
    }
    expect(performance.now() - startedMs).toBeLessThan(slackMs)
    expect((await hung).map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 503))
  })

  it.each(['spins', ...isNight ? ['fills'] : []])(
    'that %s is replaced, and others wait no longer than its limit',
    async (fault) => {
      const bad = as(`on-${fault}`, 'POST', '/threads', {})
      const startedMs = performance.now()
      const beside = await as('ann', 'GET', `/threads/${thread}`)
      expect(beside.status).toBeOneOf([200, 503])
      expect(performance.now() - startedMs).toBeLessThan(timeoutMs + slackMs)
      expect((await bad).status).toBe(503)
      await expect.poll(async () => (await as('ann', 'GET', `/threads/${thread}`)).status)
        .toBe(200)
      expect(server.output()).toContain('is replaced')
    },
  )
})
