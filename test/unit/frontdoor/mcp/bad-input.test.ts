/** Input of the Model Context Protocol that is wrong, or of somebody else: its specified errors. */

import { describe, expect, it } from 'vitest'

import type { Caller } from '../../../../src/frontdoor/http/caller.ts'
import { findKept } from '../../../../src/frontdoor/mcp/kept-call.ts'
import { noUse, unlimited } from '../../../../src/limits/index.ts'
import { toolClient } from '../../../support/tool-client.ts'
import { call, openDoor } from '../open-front-door.ts'

const frame = { jsonrpc: '2.0', id: 1 }
const forms = { elicitation: {} }
const listed = { ...frame, method: 'tools/list' }

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const bodies: Readonly<Record<string, readonly [body: string, status: number, code: number]>> = {
  'no JSON': ['{"jsonrpc":', 400, -32_700],
  'nothing': ['', 400, -32_700],
  'a batch': [JSON.stringify([listed, listed]), 400, -32_600],
  'an empty batch': ['[]', 400, -32_600],
  'a value that is no object': ['7', 400, -32_600],
  'another version': [JSON.stringify({ ...listed, jsonrpc: '1.0' }), 400, -32_600],
  'an id that is no text and no number': [JSON.stringify({ ...listed, id: {} }), 400, -32_600],
  'a huge id': [JSON.stringify({ ...listed, id: 'x'.repeat(1_001) }), 400, -32_600],
  'a number that is no integer': ['{"jsonrpc":"2.0","id":1e400,"method":"ping"}', 400, -32_600],
  'params that are a list': [JSON.stringify({ ...listed, params: [] }), 400, -32_602],
  'deep nesting': [`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested(5_000)}}}`, 422,
    -32_600],
  'deep arguments': [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent",` +
    `"arguments":{"a":${nested(5_000)}}}}`, 422, -32_600],
  'an unknown method': [JSON.stringify({ ...frame, method: 'tools/none' }), 200, -32_601],
  'the name of a property of objects': [JSON.stringify({ ...frame, method: 'constructor' }), 200,
    -32_601],
  'a notification with an id': [JSON.stringify({ ...frame, method: 'notifications/initialized' }),
    200, -32_601],
  'a cursor of no page': [JSON.stringify({ ...listed, params: { cursor: {} } }), 200, -32_602],
  'no name of a tool': [JSON.stringify({ ...frame, method: 'tools/call' }), 200, -32_602],
  'arguments that are no object': [
    JSON.stringify({ ...frame, method: 'tools/call', params: { name: 'agent', arguments: 'x' } }),
    200,
    -32_602,
  ],
}

describe('a body is answered as JSON-RPC has it:', () => {
  it.each(Object.entries(bodies))('%s', async (_, [body, status, code]) => {
    const door = await openDoor()
    const answer = await call(door, 'POST', '/mcp', body, { 'content-type': 'application/json' })
    expect(answer).toMatchObject({ status,
      json: { jsonrpc: '2.0', error: { code, message: expect.any(String) } } })
    expect(answer.text.length).toBeLessThan(2_000)
    expect(door.threads.runs.size).toBe(0)
  })
})

describe('what needs no answer', () => {
  it('starts nothing, whatever it names', async () => {
    const door = await openDoor()
    const session = { 'mcp-session-id': `f-${crypto.randomUUID()}` }
    const sent = [
      { method: 'tools/call', params: { name: 'agent' } },
      { method: 'notifications/cancelled' },
      { method: 'notifications/cancelled', params: { requestId: { a: 1 } } },
      { method: 'notifications/cancelled', params: { requestId: 'x'.repeat(2_000) } },
      { id: 'no question', result: {} },
      { id: `${crypto.randomUUID()}/x`, error: {} },
    ]
    for (const message of sent) {
      expect(await call(door, 'POST', '/mcp', { jsonrpc: '2.0', ...message }, session))
        .toMatchObject({ status: 202, text: '' })
    }
    expect([door.threads.runs.size, door.threads.views.size]).toEqual([0, 0])
  })
})

describe('a session', () => {
  it('costs nothing: what begins one leaves nothing, and any number may be begun', async () => {
    const door = await openDoor()
    for (let count = 0; count < 100; count += 1) {
      await toolClient(door.url).initialize(forms)
    }
    expect([door.threads.calls, door.env.timers()]).toEqual([[], expect.any(Number)])
  })

  it('may hold so many streams as its tenant', async () => {
    const door = await openDoor({
      quotas: { limits: { ...unlimited, streams: 2 }, use: async () => noUse },
    })
    const left = new AbortController()
    const open = async (signal?: AbortSignal) =>
      await fetch(`${door.url}/mcp`, { ...signal && { signal },
        headers: { accept: 'text/event-stream', 'mcp-session-id': `n-${crypto.randomUUID()}` } })
    expect([(await open()).status, (await open(left.signal)).status]).toEqual([200, 200])
    const refused = await open()
    expect([refused.status, await refused.json()]).toEqual([429,
      expect.objectContaining({ code: 'over_quota' })])
    left.abort()
    await expect.poll(async () => (await open()).status).toBe(200)
  })
})

const marks = { mcp_tool: 'agent', mcp_session: 's', mcp_user: 'ann', mcp_request: 7 }

/** What a user finds of a thread with this metadata, in a session. */
async function found(session: string, id: string, metadata: object = marks) {
  const caller = { tenant: 't', identity: { kind: 'user', id } } as unknown as Caller
  const parts = {
    threads: {
      get: async () => ({
        row: { metadataJson: JSON.stringify(metadata), interruptsJson: '{}', unfinished: [] },
      }),
    },
    runs: { newest: async () => ({ runId: 'r' }) },
  } as unknown as Parameters<typeof findKept>[0]
  return await findKept(parts, caller, 'x', session)
}

describe('a call', () => {
  it('is found by its user in its session, and by nobody else', async () => {
    expect(await found('s', 'ann')).toMatchObject({ assistant: 'agent', requestId: 7 })
    expect([await found('s', 'ben'), await found('other', 'ann'), await found('', 'ann'),
      await found('s', '')]).toEqual([undefined, undefined, undefined, undefined])
  })

  it('is no thread without its marks, or with marks of something else', async () => {
    const { mcp_tool: _, ...rest } = marks
    for (const metadata of [{}, rest, { ...marks, mcp_tool: 7 }, { ...marks, mcp_user: null }]) {
      expect(await found('s', 'ann', metadata)).toBeUndefined()
    }
    expect(await found('', '', {})).toBeUndefined()
  })

  it('is not left to another session of its user', async () => {
    const door = await openDoor()
    const client = toolClient(door.url)
    await client.initialize(forms)
    const { messages, result } = client.call('agent', {}, { id: 7 })
    result.catch(() => {})
    await expect.poll(() => door.threads.runs.size).toBe(1)
    const run = door.threads.lastRun
    Object.assign(run.row, { interruptsJson: '{"t":[{"id":"q1","value":"Which?"}]}' })
    run.end('{"__interrupt__":[{"id":"q1","value":"Which?"}]}')
    const { id } = await messages.next()
    const other = toolClient(door.url)
    await other.initialize(forms)
    await other.answer(id!, { action: 'accept', content: { answer: 'mine' } })
    await other.answer(id!, { action: 'decline' })
    await other.notify('notifications/cancelled', { requestId: 7 })
    expect(await other.resume(`${run.row.threadId}.0.`).result)
      .toMatchObject({ error: { code: -32_000 } })
    expect([door.threads.runs.size, door.threads.views.size]).toEqual([1, 1])
  })
})
