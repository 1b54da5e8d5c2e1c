/** The Model Context Protocol at a front door, message by message. */

import { describe, expect, it } from 'vitest'

import type { RawJson } from '../../../../src/raw-json.ts'
import { toolClient } from '../../../support/tool-client.ts'
import type { ToolClient } from '../../../support/tool-client.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'
import { threadEvent } from '../fake-threads.ts'
import type { FakeRun } from '../fake-threads.ts'
import { activeIn, openKeyed } from '../mount/deployment-door.ts'

const modern = '2026-07-28'
const asked = '{"__interrupt__":[{"id":"q1","value":"Which?"}]}'
const forms = { elicitation: {} }

/** The run that is started next. */
async function nextRun({ threads }: OpenDoor, before = 0) {
  await expect.poll(() => threads.runs.size).toBeGreaterThan(before)
  return threads.lastRun
}

/** A run of a call ends with an interrupt. */
function ask({ threads }: OpenDoor, run: FakeRun): void {
  const { row } = run
  const interruptsJson = '{"t":[{"id":"q1","value":"Which?"}]}'
  Object.assign(row, { interruptsJson })
  Object.assign(threads.views.get(row.threadId)!.row, { interruptsJson, lastRunId: row.runId })
  run.end(asked)
}

/** An answer ends without a result. The interrupt stays open. */
function leaveOpen({ threads }: OpenDoor, run: FakeRun, result: string): void {
  const { row } = run
  Object.assign(threads.views.get(row.threadId)!.row, { lastRunId: row.runId })
  run.end(result)
}

async function opened(options: Parameters<typeof openDoor>[0] = {}) {
  const door = await openDoor(options)
  return { door, client: toolClient(door.url) }
}

describe('a message', () => {
  it('that cannot be read is answered as JSON-RPC has it', async () => {
    const { door } = await opened()
    const post = (body: string, headers = {}) => call(door, 'POST', '/mcp', body, headers)
    expect(await post('{')).toMatchObject({ status: 400,
      json: { jsonrpc: '2.0', error: { code: -32_700 } } })
    expect(await post('[]')).toMatchObject({ status: 400, json: { error: { code: -32_600 } } })
    expect(await post('{"jsonrpc":"2.0","id":3,"method":7}')).toMatchObject({ status: 400,
      json: { id: 3, error: { code: -32_600 } } })
    expect(await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', { accept: 'application/json' }))
      .toMatchObject({ status: 406, json: { error: { code: -32_000 } } })
    expect(await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'mcp-session-id': 'mine' }))
      .toMatchObject({ status: 404, json: { id: 1, error: { code: -32_000 } } })
  })

  it('with the origin of a foreign page is refused', async () => {
    const { door } = await opened()
    const { status } = await call(door, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, {
      origin: 'https://evil.example',
    })
    expect(status).toBe(403)
  })

  it('that needs no answer gets none', async () => {
    const { door } = await opened()
    for (const method of ['notifications/initialized', 'notifications/unheard']) {
      expect(await call(door, 'POST', '/mcp/', { jsonrpc: '2.0', method }))
        .toMatchObject({ status: 202, text: '' })
    }
  })

  it('has no address if the protocol is off', async () => {
    const { door } = await opened({ mcp: false })
    expect(await call(door, 'POST', '/mcp', {})).toMatchObject({ status: 404,
      json: { detail: 'MCP is turned off by --mcp off.' } })
  })
})

describe('revision 2025-11-25', () => {
  it('begins with a session, which nothing is kept for', async () => {
    const { client } = await opened()
    const { headers, result } = await client.ask('initialize', { protocolVersion: '2025-11-25',
      capabilities: {}, clientInfo: { name: 't', version: '1' } })
    expect(result).toMatchObject({ protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'heddle' } })
    expect(headers.get('mcp-session-id')).toMatch(/^n-/)
    expect((await client.ask('ping')).result).toEqual({})
    expect(await client.ask('resources/list')).toMatchObject({ status: 200,
      error: { code: -32_601 } })
    expect(await client.ask('initialize', {})).toMatchObject({ error: { code: -32_602 } })
  })

  it('has a stream only in a session, and an end of one', async () => {
    const { door } = await opened()
    expect(await call(door, 'GET', '/mcp')).toMatchObject({ status: 405 })
    expect(await call(door, 'DELETE', '/mcp')).toMatchObject({ status: 400 })
    const session = { 'mcp-session-id': `f-${crypto.randomUUID()}` }
    expect(await call(door, 'GET', '/mcp', undefined, { ...session, 'last-event-id': 'x' }))
      .toMatchObject({ status: 404 })
    const metadata = { mcp_session: session['mcp-session-id'] }
    await call(door, 'POST', '/threads', { metadata })
    await call(door, 'POST', '/threads', { metadata: { mcp_session: 'other' } })
    expect(await call(door, 'DELETE', '/mcp', undefined, session)).toMatchObject({ status: 204 })
    expect(door.threads.views.size).toBe(1)
  })

  it('cancels the run of a call, on whatever member it is', async () => {
    const { door, client } = await opened()
    await client.initialize({})
    const { result } = client.call('agent', {}, { id: 7 })
    const run = await nextRun(door)
    await client.notify('notifications/cancelled', { requestId: 8 })
    expect(await Promise.race([run.cancelled.promise, 'goes on'])).toBe('goes on')
    await client.notify('notifications/cancelled', { requestId: 7 })
    expect(await run.cancelled.promise).toMatchObject({ action: 'interrupt' })
    await result
  })

  it('answers with an error where the graph asks and the client cannot', async () => {
    const { door, client } = await opened()
    await client.initialize({})
    const { result } = client.call('agent')
    ;(await nextRun(door)).end(asked)
    expect(await result).toMatchObject({
      result: { isError: true,
        content: [{ type: 'text', text: expect.stringContaining('Which?') }] },
    })
  })

  it('asks the user of the client on the stream of the call, and goes on', async () => {
    const { door, client } = await opened()
    await client.initialize(forms)
    const { messages, result } = client.call('agent')
    const first = await nextRun(door)
    const { threadId } = first.row
    ask(door, first)
    const question = await messages.next()
    const mark = `${first.row.runId.slice(-12)}-q1`
    expect(question).toMatchObject({ id: `${threadId}/${mark}`, method: 'elicitation/create',
      params: { message: 'Which?' } })
    // The same, for a client that lost the stream: it has the question, and waits for the answer.
    const again = client.resume(`${threadId}.0.${mark}`)
    const unasked = client.resume(`${threadId}.0.`)
    expect(await unasked.messages.next()).toMatchObject({ method: 'elicitation/create' })
    expect(await client.answer(question.id!, { action: 'accept', content: { answer: 'this' } }))
      .toBe(202)
    const second = await nextRun(door, 1)
    expect(second.start).toMatchObject({ strictResume: true, strategy: 'reject',
      kwargs: { command: { resume: 'this' } } })
    door.threads.eventsOf('local', threadId).notify([
      threadEvent(9, { method: 'lifecycle', runId: second.row.runId, data: '{"event":"running"}' }),
    ])
    second.end('{"answers":["this"]}')
    for (const each of [result, again.result, unasked.result]) {
      expect(await each).toMatchObject({ result: { structuredContent: { answers: ['this'] } } })
    }
    await expect.poll(() => door.threads.views.size).toBe(0)
  })

  it('gives the run that continues with an answer the context of the call', async () => {
    const { door, client } = await opened()
    await client.initialize(forms)
    const { messages, result } = client.stream('tools/call', { name: 'agent',
      context: { tier: 'gold' } })
    const first = await nextRun(door)
    ask(door, first)
    const { id } = await messages.next()
    await client.answer(id!, { action: 'accept', content: { answer: 'this' } })
    const second = await nextRun(door, 1)
    expect(second.start.kwargs).toMatchObject({ command: { resume: 'this' },
      context: { tier: 'gold' } })
    door.threads.eventsOf('local', first.row.threadId).notify([
      threadEvent(9, { method: 'lifecycle', runId: second.row.runId, data: '{"event":"running"}' }),
    ])
    second.end('{}')
    await result
  })

  it('asks again on the stream after an answer that failed', async () => {
    const { door, client } = await opened()
    await client.initialize(forms)
    const { messages, result } = client.call('agent')
    const first = await nextRun(door)
    const { threadId } = first.row
    ask(door, first)
    const answer = async (id: unknown, runs: number) => {
      await client.answer(String(id), { action: 'accept', content: { answer: 'this' } })
      const run = await nextRun(door, runs)
      door.threads.eventsOf('local', threadId).notify([
        threadEvent(runs, { method: 'lifecycle', runId: run.row.runId,
          data: '{"event":"running"}' }),
      ])
      return run
    }
    leaveOpen(door, await answer((await messages.next()).id, 1),
      '{"__error__":{"error":"Error","message":"no model"}}')
    const again = await messages.next()
    expect(again).toMatchObject({ method: 'elicitation/create',
      params: { message: 'no model\n\nWhich?' } })
    const last = await answer(again.id, 2)
    Object.assign(door.threads.views.get(threadId)!.row, { interruptsJson: '{}' })
    last.end('{"answers":["this"]}')
    expect(await result).toMatchObject({ result: { structuredContent: { answers: ['this'] } } })
  })

  it('ends a call whose question was declined', async () => {
    const { door, client } = await opened()
    await client.initialize(forms)
    const { messages, result } = client.call('agent')
    const run = await nextRun(door)
    ask(door, run)
    const { id } = await messages.next()
    await client.answer(id!, { action: 'decline' })
    await expect.poll(() => door.threads.given('discard')).toBe(run.row.threadId)
    for (const each of door.threads.eventsOf('local', run.row.threadId).listeners)
      each.ended('gone')
    expect(await result).toMatchObject({ result: { isError: true } })
  })
})

describe('revision 2026-07-28', () => {
  it('says what the server can do', async () => {
    const { client } = await opened()
    const { result } = await client.asModern('server/discover')
    expect(result).toMatchObject({ resultType: 'complete', capabilities: { tools: {} },
      supportedVersions: [modern, '2025-11-25', '2025-06-18'], cacheScope: 'public',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'heddle' } } })
    expect(await client.asModern('ping')).toMatchObject({ status: 404, error: { code: -32_601 } })
  })

  it('asks by the result of the call, and goes on with the answer', async () => {
    const { door, client } = await opened()
    const first = client.asModern('tools/call', { name: 'agent' }, forms)
    const run = await nextRun(door)
    ask(door, run)
    const { result } = await first
    const requestState = `${run.row.threadId}.${run.row.runId}`
    expect(result).toMatchObject({ resultType: 'input_required', requestState,
      inputRequests: { q1: { method: 'elicitation/create', params: { message: 'Which?' } } } })
    const state = { name: 'agent', requestState }
    const answers = { inputResponses: { q1: { action: 'accept', content: { answer: 'this' } } } }
    // Without an answer, and with one to an earlier run, it is asked again.
    const earlier = `${run.row.threadId}.${crypto.randomUUID()}`
    expect(
      (await client.asModern('tools/call', { ...answers, name: 'agent', requestState: earlier },
        forms)).result,
    ).toMatchObject({ resultType: 'input_required' })
    expect((await client.asModern('tools/call', state, forms)).result)
      .toMatchObject({ resultType: 'input_required' })
    const second = client.asModern('tools/call', { ...state, ...answers }, forms)
    const resumed = await nextRun(door, 1)
    expect(resumed.start).toMatchObject({ strictResume: true, strategy: 'reject',
      kwargs: { command: { resume: 'this' } } })
    resumed.end('{"answers":["this"]}')
    expect((await second).result).toMatchObject({ resultType: 'complete',
      structuredContent: { answers: ['this'] } })
    await expect.poll(() => door.threads.views.size).toBe(0)
  })

  it.each([[undefined, 'gold'], [{ tier: 'silver' }, 'silver']])(
    'gives the run that continues the context %j of the answer, or that of the call',
    async (context, tier) => {
      const { door, client } = await opened()
      const first = client.asModern('tools/call', { name: 'agent', context: { tier: 'gold' } },
        forms)
      const run = await nextRun(door)
      ask(door, run)
      await first
      const second = client.asModern('tools/call', { name: 'agent', context,
        requestState: `${run.row.threadId}.${run.row.runId}`,
        inputResponses: { q1: { action: 'accept', content: { answer: 'this' } } } }, forms)
      const next = await nextRun(door, 1)
      expect(next.start.kwargs).toMatchObject({ context: { tier } })
      next.end('{}')
      await second
    },
  )

  it.each([['failed', '{"__error__":{"error":"Error","message":"no model"}}'], ['was cancelled',
    '{"answers":[]}']])('asks again after an answer that %s', async (_how, outcome) => {
      const { door, client } = await opened()
      const first = client.asModern('tools/call', { name: 'agent' }, forms)
      const run = await nextRun(door)
      ask(door, run)
      const answers = { inputResponses: { q1: { action: 'accept', content: { answer: 'this' } } } }
      const requestState = `${run.row.threadId}.${run.row.runId}`
      expect((await first).result).toMatchObject({ requestState })
      const second = client.asModern('tools/call', { name: 'agent', requestState, ...answers },
        forms)
      const failed = await nextRun(door, 1)
      leaveOpen(door, failed, outcome)
      const state = { name: 'agent', requestState: `${run.row.threadId}.${failed.row.runId}` }
      expect((await second).result).toMatchObject({ resultType: 'input_required',
        requestState: state.requestState,
        inputRequests: { q1: { params: { message: expect.stringContaining('Which?') } } } })
      const third = client.asModern('tools/call', { ...state, ...answers }, forms)
      const last = await nextRun(door, 2)
      Object.assign(door.threads.views.get(run.row.threadId)!.row, { interruptsJson: '{}' })
      last.end('{"answers":["this"]}')
      expect((await third).result).toMatchObject({ resultType: 'complete' })
    })

  it('refuses a state that is of no call of this tool', async () => {
    const twice = (id: unknown) => `${String(id)}.${String(id)}`
    const { door, client } = await opened()
    const { json } = await call(door, 'POST', '/threads', {})
    for (const requestState of ['x', 7, twice(crypto.randomUUID()), twice(json['thread_id'])]) {
      expect(await client.asModern('tools/call', { name: 'agent', requestState }, forms))
        .toMatchObject({ error: { code: -32_602 } })
    }
    expect(door.threads.views.size).toBe(1)
  })

  it('names the ability that a client needs for a question', async () => {
    const { door, client } = await opened()
    const answer = client.asModern('tools/call', { name: 'agent' })
    ;(await nextRun(door)).end(asked)
    expect(await answer).toMatchObject({ status: 400,
      error: { code: -32_021, data: { requiredCapabilities: { elicitation: { form: {} } } } } })
  })

  it('sends what was subscribed to, and nothing else', async () => {
    const { door, client } = await opened()
    const open = client.subscribe({ toolsListChanged: true, promptsListChanged: true })
    expect(await open.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true },
        _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } } })
    const changed = { method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } } }
    // At once: no time passes here.
    const { json } = await call(door, 'POST', '/assistants', { graph_id: 'agent', name: 'new' })
    expect(await open.next()).toMatchObject(changed)
    await call(door, 'DELETE', `/assistants/${String(json['assistant_id'])}`)
    expect(await open.next()).toMatchObject(changed)
    const nothing = client.subscribe({})
    expect(await nothing.next()).toMatchObject({ params: { notifications: {} } })
  })
})

describe('tools', () => {
  it('are the assistants, each with its schema', async () => {
    const { door, client } = await opened()
    await call(door, 'POST', '/assistants', { graph_id: 'agent', name: 'My bot',
      description: 'Knows all' })
    const { result } = await client.ask('tools/list')
    const { tools, nextCursor } = result as { tools: { name: string }[]; nextCursor?: string }
    expect(nextCursor).toBeUndefined()
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['My_bot', 'agent', 'other'])
    expect(tools.find(({ name }) => name === 'My_bot')).toEqual({ name: 'My_bot', title: 'My bot',
      description: 'Knows all', inputSchema: { type: 'object' } })
    expect(await client.ask('tools/list', { cursor: 'x' })).toMatchObject({
      error: { code: -32_602 },
    })
  })

  it('come in pages', async () => {
    const { door, client } = await opened()
    for (let count = 0; count < 100; count++) {
      await door.house.assistants.create({ tenant: 'local', assistantId: crypto.randomUUID() }, {
        graphId: 'agent',
        name: 'Untitled',
        description: null,
        config: {},
        context: {},
        metadata: {},
      }, 'raise')
    }
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await client.ask('tools/list', cursor === undefined ? {} : { cursor })
      const page = result as { tools: { name: string }[]; nextCursor?: string }
      names.push(...page.tools.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect([names.length, new Set(names).size]).toEqual([102, 102])
    const { result } = client.call(names.find((name) => name.startsWith('Untitled_'))!)
    ;(await nextRun(door)).end('{}')
    expect(await result).toMatchObject({ result: { structuredContent: {} } })
  })

  it('are called by name, and answer the state as text and as a value', async () => {
    const { door, client } = await opened()
    const { result } = client.call('agent', { messages: ['hi'] })
    const run = await nextRun(door)
    expect(run.start).toMatchObject({ awaited: true, ifMissing: 'hidden',
      kwargs: { input: { messages: ['hi'] } } })
    run.end('{"messages":["hi"]}')
    expect(await result).toMatchObject({
      result: { structuredContent: { messages: ['hi'] },
        content: [{ type: 'text', text: '{"messages":["hi"]}' }] },
    })
    expect(await client.ask('tools/call', { name: 'nobody' })).toMatchObject({ status: 200,
      error: { code: -32_602, message: 'Unknown tool: nobody' } })
    expect(await client.ask('tools/call', { name: 'agent', arguments: [] }))
      .toMatchObject({ error: { code: -32_602 } })
  })

  it('give the run the context of the call, which is no argument', async () => {
    const { door, client } = await opened()
    const result = client.ask('tools/call', { name: 'agent', arguments: { topic: 't' },
      context: { tier: 'gold' } })
    const run = await nextRun(door)
    expect(run.start.kwargs).toMatchObject({ input: { topic: 't' }, context: { tier: 'gold' } })
    run.end('{}')
    await result
    expect(await client.ask('tools/call', { name: 'agent', context: 'gold' }))
      .toMatchObject({ error: { code: -32_602, message: 'The context must be an object.' } })
  })

  it('take long arguments as they are', async () => {
    const { door, client } = await opened()
    const text = 'x'.repeat(200_000)
    const { result } = client.call('agent', { text })
    const run = await nextRun(door)
    expect((run.start.kwargs['input'] as RawJson).text).toBe(`{"text":"${text}"}`)
    run.end('{}')
    await result
  })

  it('say why they failed', async () => {
    const { door, client } = await opened()
    const { result } = client.call('agent')
    ;(await nextRun(door)).end('{"__error__":{"error":"TypeError","message":"no such city"}}')
    expect(await result).toMatchObject({
      result: { isError: true, content: [{ type: 'text', text: 'no such city' }] },
    })
  })

  it.each(['former', 'modern'])('report progress to a %s client', async (era) => {
    const { door, client } = await opened()
    const started = await progressOf(client, era, door)
    expect(started).toEqual([1, 'plan started', 2, 'plan completed'])
  })

  it('stop when their client leaves', async () => {
    const { door, client } = await opened()
    const left = new AbortController()
    const gone = client.call('agent', {}, { signal: left.signal }).result.catch(() => 'gone')
    const run = await nextRun(door)
    left.abort()
    expect(await gone).toBe('gone')
    expect(await run.cancelled.promise).toMatchObject({ cause: 'disconnected' })
  })
})

describe('the address', () => {
  it('is that of a deployment as well, with its own tools', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const [send, other] = [await as('acme'), await as('other')]
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect(await send('POST', '/d/shop/mcp/', list)).toMatchObject({ status: 200,
      json: { result: { tools: [{ name: 'agent' }, { name: 'other' }] } } })
    expect(await other('POST', '/d/shop/mcp', list)).toMatchObject({ status: 404 })
    const reader = await as('acme', 'reader')
    expect(await reader('POST', '/d/shop/mcp', list)).toMatchObject({ status: 200 })
    expect(
      await reader('POST', '/d/shop/mcp', { ...list, method: 'tools/call',
        params: { name: 'agent' } }),
    ).toMatchObject({ status: 403 })
  })
})

async function progressOf(client: ToolClient, era: string, door: OpenDoor) {
  const _meta = { progressToken: 'p' }
  const { messages, result } = era === 'modern'
    ? client.streamModern('tools/call', { name: 'agent', _meta })
    : client.stream('tools/call', { name: 'agent', _meta })
  const run = await nextRun(door)
  expect(run.start.kwargs).toMatchObject({ stream_mode: ['tasks-lean'] })
  const task = (event: string, id: string) => ({ id, name: 'tasks-lean',
    json: JSON.stringify({ event, id: 't', name: 'plan' }) })
  run.notify([task('started', '1'), { id: '2', name: 'values', json: '{}' },
    task('completed', '3')])
  const seen = [await messages.next(), await messages.next()].flatMap(({ method, params }) => {
    expect([method, params!['progressToken']]).toEqual(['notifications/progress', 'p'])
    return [params!['progress'], params!['message']]
  })
  run.end('{}')
  expect(await result).toMatchObject({ result: { structuredContent: {} } })
  return seen
}
