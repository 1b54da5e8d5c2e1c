/** A2A over a front door with fake threads: calls, tasks, errors and streams. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { isMeant } from '../../../../src/search/index.ts'
import { viewOf } from '../fake-threads.ts'
import type { FakeRun } from '../fake-threads.ts'
import { activeIn, openKeyed } from '../mount/deployment-door.ts'
import type { Send } from '../mount/deployment-door.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

interface TaskSeen {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string }
  readonly history: readonly { readonly parts: readonly object[] }[]
}

/** Members of answers that these tests look at. */
interface Answered {
  readonly result: TaskSeen & { readonly task: TaskSeen; readonly tasks: readonly TaskSeen[];
    readonly nextPageToken: string }
  readonly error: { readonly code: number }
}

interface Human {
  readonly content: unknown
}

/** A door whose index of runs knows what was started. */
async function openAgents(options: Partial<FrontDoorOptions> = {}): Promise<OpenDoor> {
  let rows = (): RunRow[] => []
  const door = await openDoor({ ...options, runIndex: {
    search: async (query) => ({ rows: rows().filter((row) => isMeant(query, row)),
      next: undefined }),
  } })
  rows = () => [...door.threads.runs.values()].map(({ row }) => row).toReversed()
  return door
}

async function ask(door: OpenDoor, method: string, params: object,
  headers: Record<string, string> = {}): Promise<Answered> {
  const { status, json } = await call(door, 'POST', '/a2a/agent', { jsonrpc: '2.0', id: 7, method,
    params }, headers)
  expect(status).toBe(200)
  expect(json).toMatchObject({ jsonrpc: '2.0', id: 7 })
  return json as unknown as Answered
}

const said = (text: string, more: object = {}) => ({ messageId: randomUUID(), role: 'ROLE_USER',
  parts: [{ text }], ...more })

/** Ends the newest run with an answer of the graph, and with what the graph asks. */
function finish(door: OpenDoor, run: FakeRun, answer: string, asked?: unknown): void {
  const [input] = (run.start.kwargs['input'] as { messages: Human[] } | null)?.messages ?? []
  const messages = [...input ? [input] : [], { type: 'ai', id: `ai-${run.row.runId}`,
    content: answer }]
  const values = JSON.stringify({ messages })
  const interrupts = JSON.stringify(asked === undefined ? {} : { t: [{ id: 'i', value: asked }] })
  Object.assign(run.row, { status: 'success', finalCheckpointId: 'c', interruptsJson: interrupts })
  const view = viewOf('local', run.row.threadId, {}, values)
  Object.assign(view.row, { status: 'interrupted', lastRunId: run.row.runId,
    interruptsJson: interrupts })
  door.threads.views.set(run.row.threadId, view)
  run.end(values)
}

/** Sends a message in the background, and resolves with its task and its run. */
async function begun(door: OpenDoor, message: object = said('hi')) {
  const { result } = await ask(door, 'SendMessage', { message,
    configuration: { returnImmediately: true } })
  const { views, lastRun: run } = door.threads
  const { threadId } = run.row
  if (!views.has(threadId)) views.set(threadId, viewOf('local', threadId, {}))
  return { task: result.task, run }
}

describe('a message', () => {
  it('waits for the answer of the graph, in the form that its method has', async () => {
    const door = await openAgents()
    const message = said('hi')
    const sent = ask(door, 'SendMessage', { message })
    await expect.poll(() => door.threads.runs.size).toBe(1)
    const run = door.threads.lastRun
    finish(door, run, 'hello')
    const { result: { task } } = await sent
    expect(task).toMatchObject({ id: run.row.runId, contextId: run.row.threadId,
      status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-02T03:04:05.678Z' },
      artifacts: [{ parts: [{ text: 'hello' }] }],
      history: [{ messageId: message.messageId, role: 'ROLE_USER', parts: [{ text: 'hi' }] }, {
        role: 'ROLE_AGENT',
        parts: [{ text: 'hello' }],
      }] })
    const { result: old } = await ask(door, 'tasks/get', { id: task.id, historyLength: 1 })
    expect(old).toMatchObject({ kind: 'task', status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'hello' }] }],
      history: [{ kind: 'message', role: 'agent' }] })
    expect(old.history).toHaveLength(1)
  })

  it('gives the run its context, and is another message with another context', async () => {
    const door = await openAgents()
    const message = said('hi')
    const send = (context: unknown) =>
      ask(door, 'SendMessage', { message, context, configuration: { returnImmediately: true } })
    const { result: { task } } = await send({ tier: 'gold' })
    expect(door.threads.lastRun.start.kwargs).toMatchObject({ context: { tier: 'gold' } })
    expect((await send({ tier: 'gold' })).result.task.id).toBe(task.id)
    expect((await send({ tier: 'tin' })).result.task.id).not.toBe(task.id)
    expect((await send('gold')).error.code).toBe(-32602)
  })

  it('that comes again makes nothing new, and one with another text does', async () => {
    const door = await openAgents()
    const message = said('hi')
    const first = await begun(door, message)
    const again = await begun(door, message)
    expect(again.task).toMatchObject({ id: first.task.id, contextId: first.task.contextId })
    const other = await begun(door, { ...message, parts: [{ text: 'ho' }] })
    expect(other.task.id).not.toBe(first.task.id)
    expect(door.threads.runs.size).toBe(2)
    // Clients of 1.0 may send an empty text for nothing.
    await begun(door, said('new', { taskId: '', contextId: '' }))
    expect(door.threads.runs.size).toBe(3)
  })

  it('carries files and data into the graph and out again', async () => {
    const door = await openAgents()
    const parts = [{ text: 'look' }, { raw: 'AAAA', mediaType: 'image/png', filename: 'a.png' }, {
      url: 'https://x.test/b.pdf',
      mediaType: 'application/pdf',
    }, { data: { a: [1] } }]
    const { task, run } = await begun(door, said('', { parts }))
    const [human] = (run.start.kwargs['input'] as { messages: Human[] }).messages
    expect(human!.content).toEqual([{ type: 'text', text: 'look' }, { type: 'image',
      mimeType: 'image/png', data: 'AAAA', metadata: { filename: 'a.png' } }, { type: 'file',
      mimeType: 'application/pdf', url: 'https://x.test/b.pdf' }, { type: 'text',
      text: '{"a":[1]}' }])
    finish(door, run, 'seen')
    const { result } = await ask(door, 'GetTask', { id: task.id })
    expect(result.history[0]!.parts).toEqual(parts)
    const { result: old } = await ask(door, 'tasks/get', { id: task.id })
    expect(old.history[0]!.parts).toEqual([{ kind: 'text', text: 'look' }, { kind: 'file',
      file: { bytes: 'AAAA', mimeType: 'image/png', name: 'a.png' } }, { kind: 'file',
      file: { uri: 'https://x.test/b.pdf', mimeType: 'application/pdf' } }, { kind: 'data',
      data: { a: [1] } }])
  })

  it('to a task that asks is the answer, and the task keeps its id', async () => {
    const door = await openAgents()
    const { task, run } = await begun(door)
    finish(door, run, 'well', { question: 'which?' })
    expect((await ask(door, 'GetTask', { id: task.id })).result.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ data: { question: 'which?' } }] },
    })
    const answer = said('this one', { taskId: task.id })
    const sent = ask(door, 'SendMessage', { message: answer })
    await expect.poll(() => door.threads.runs.size).toBe(2)
    const second = door.threads.lastRun
    expect(second.start).toMatchObject({ resumeOnly: true,
      kwargs: { command: { resume: 'this one' } }, metadata: { a2a_task_id: task.id } })
    finish(door, second, 'done')
    expect((await sent).result.task).toMatchObject({ id: task.id, contextId: task.contextId,
      status: { state: 'TASK_STATE_COMPLETED' } })
    // What was answered once is not answered again, and the same message again is no other.
    expect((await ask(door, 'SendMessage', { message: answer })).result.task.id).toBe(task.id)
    expect(
      (await ask(door, 'SendMessage', { message: said('late', { taskId: task.id }) })).error,
    )
      .toMatchObject({ code: -32004, data: [{ reason: 'UNSUPPORTED_OPERATION' }] })
  })

  it.each(['error', 'interrupted'])('answers a task again whose last answer ended with %s',
    async (status) => {
      const door = await openAgents()
      const { task, run } = await begun(door)
      finish(door, run, 'well', 'which?')
      const { run: failed } = await begun(door, said('this', { taskId: task.id }))
      Object.assign(failed.row, { status,
        errorJson: status === 'error' ? '{"message":"no model"}' : '' })
      Object.assign(door.threads.views.get(task.contextId)!.row, { status,
        lastRunId: failed.row.runId })
      const { result } = await ask(door, 'GetTask', { id: task.id })
      expect(result.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: {
        parts: [...status === 'error' ? [{ text: 'no model' }] : [], { text: 'which?' }],
      } })
      const { result: { tasks } } = await ask(door, 'ListTasks', {
        status: 'TASK_STATE_INPUT_REQUIRED',
      })
      expect(tasks.map(({ id }) => id)).toEqual([task.id])
      // A resume that was refused before it was executed leaves the last run as it was.
      const { run: refused } = await begun(door, said('it', { taskId: task.id }))
      Object.assign(refused.row, { status: 'error', errorJson: '{}' })
      const { run: last } = await begun(door, said('that', { taskId: task.id }))
      expect(last.start).toMatchObject({ resumeOnly: true, plan: { answers: { length: 1 } },
        kwargs: { command: { resume: 'that' } } })
      finish(door, last, 'done')
      expect((await ask(door, 'GetTask', { id: task.id })).result.status.state)
        .toBe('TASK_STATE_COMPLETED')
    })

  it('of a type that the assistant does not take is refused', async () => {
    const door = await openAgents()
    const { json: { assistant_id: id } } = await call(door, 'POST', '/assistants', {
      graph_id: 'agent',
      metadata: { a2a: { input_modes: ['text/*'] } },
    })
    const body = (parts: object[]) => ({ jsonrpc: '2.0', id: 1, method: 'SendMessage',
      params: { message: said('', { parts }), configuration: { returnImmediately: true } } })
    const send = async (parts: object[]) =>
      (await call(door, 'POST', `/a2a/${String(id)}`, body(parts))).json as unknown as Answered
    expect((await send([{ raw: 'AA', mediaType: 'image/png' }])).error.code).toBe(-32005)
    expect((await send([{ text: 'a' }])).error).toBeUndefined()
  })
})

describe('a task', () => {
  it('of another assistant, of nobody, or with a strange id is not found', async () => {
    const door = await openAgents()
    const { task } = await begun(door)
    const { json: { assistant_id: other } } = await call(door, 'POST', '/assistants', {
      graph_id: 'agent',
    })
    const { json } = await call(door, 'POST', `/a2a/${String(other)}`, { jsonrpc: '2.0', id: 1,
      method: 'GetTask', params: { id: task.id } })
    expect((json as unknown as Answered).error.code).toBe(-32001)
    for (const id of [randomUUID(), 'nonsense', '../threads']) {
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask', 'tasks/get']) {
        expect((await ask(door, method, { id })).error).toMatchObject({ code: -32001,
          message: expect.stringContaining('not found') })
      }
    }
  })

  it('is cancelled while it works or asks, and not when it has ended', async () => {
    const door = await openAgents()
    const first = await begun(door)
    void first.run.cancelled.promise.then(() =>
      Object.assign(first.run.row, { status: 'interrupted' })
    )
    Object.assign(first.run.row, { status: 'running' })
    const cancelRun = door.threads.cancelRun.bind(door.threads)
    door.threads.cancelRun = async (...args) => {
      await cancelRun(...args)
      Object.assign(first.run.row, { status: 'interrupted' })
    }
    expect((await ask(door, 'CancelTask', { id: first.task.id })).result.status.state)
      .toBe('TASK_STATE_CANCELED')
    expect((await ask(door, 'tasks/cancel', { id: first.task.id })).error)
      .toMatchObject({ code: -32002, data: { reason: 'TASK_NOT_CANCELABLE' } })
    const second = await begun(door)
    finish(door, second.run, 'well', 'which?')
    expect((await ask(door, 'CancelTask', { id: second.task.id })).result.status.state)
      .toBe('TASK_STATE_CANCELED')
    expect((await ask(door, 'SendMessage', { message: said('a', { taskId: second.task.id }) }))
      .error.code).toBe(-32004)
  })

  it('is on a list with those of its state, page by page', async () => {
    const door = await openAgents()
    const all = []
    for (let at = 0; at < 5; at++) {
      const each = await begun(door)
      Object.assign(each.run.row, { updatedAtMs: 1_000 * at })
      if (at !== 2) finish(door, each.run, 'done')
      else door.threads.views.set(each.run.row.threadId, viewOf('local', 'waits', {}))
      all.unshift(each.task.id)
    }
    const seen = []
    for (let pageToken = '';;) {
      const { result } = await ask(door, 'ListTasks', { pageSize: 2, pageToken })
      expect(result).toMatchObject({ pageSize: 2, totalSize: 5 })
      seen.push(...result.tasks.map(({ id }) => id))
      expect(result.tasks.some((task) => 'artifacts' in task || 'history' in task))
        .toBe(false)
      pageToken = result.nextPageToken
      if (pageToken === '') break
    }
    expect(seen).toEqual(all)
    const { result } = await ask(door, 'ListTasks', { status: 'TASK_STATE_SUBMITTED',
      includeArtifacts: true })
    expect(result.tasks).toMatchObject([{ id: all[2], artifacts: [] }])
    expect((await ask(door, 'ListTasks', { status: 'nonsense' })).error.code).toBe(-32602)
    expect((await ask(door, 'ListTasks', { pageSize: 0 })).error.code).toBe(-32602)
  })

  it('shows as many messages as are asked for, and no more than ten can be', async () => {
    const door = await openAgents()
    const { task, run } = await begun(door)
    finish(door, run, 'hello')
    expect((await ask(door, 'GetTask', { id: task.id, historyLength: 0 })).result.history)
      .toBeUndefined()
    expect((await ask(door, 'GetTask', { id: task.id, historyLength: 11 })).error)
      .toMatchObject({ code: -32602,
        data: [{}, { fieldViolations: [{ field: 'historyLength' }] }] })
    expect((await ask(door, 'GetTask', { id: task.id }, {
      'langgraph-a2a-history-scope': 'nonsense',
    })).error.code).toBe(-32602)
  })
})

describe('a tenant', () => {
  it('has its own tasks, in each deployment too, and a reader sends no message', async () => {
    let rows = (): RunRow[] => []
    const { door, deployments, as } = await openKeyed({}, { runIndex: {
      search: async (query) => ({ next: undefined,
        rows: rows().filter((row) => row.tenant === query.tenant && isMeant(query, row)) }),
    } })
    rows = () => [...door.threads.runs.values()].map(({ row }) => row)
    await activeIn(deployments)
    const [acme, reader, other] = [await as('acme'), await as('acme', 'reader'), await as('evil')]
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const message = rpc('SendMessage', { message: said('hi'),
      configuration: { returnImmediately: true } })
    for (const prefix of ['', '/d/shop']) {
      const path = `${prefix}/a2a/agent`
      const { json } = await acme('POST', path, message)
      const { id } = (json as unknown as Answered).result.task
      const seen = async (send: Send, at: string) =>
        (await send('POST', at, rpc('GetTask', { id }))).json as unknown as Answered
      expect((await seen(reader, path)).result.id).toBe(id)
      const elsewhere = prefix === '' ? '/d/shop/a2a/agent' : '/a2a/agent'
      expect((await seen(acme, elsewhere)).error.code).toBe(-32001)
      expect((await seen(other, '/a2a/agent')).error.code).toBe(-32001)
      expect(await reader('POST', path, message)).toMatchObject({ status: 403,
        json: { jsonrpc: '2.0', error: { data: [{ metadata: { code: 'forbidden' } }] } } })
      const card = await acme('GET', `${path}/.well-known/agent-card.json`)
      expect(card.json).toMatchObject({
        securitySchemes: {
          apiKey: { type: 'apiKey', apiKeySecurityScheme: { name: 'x-api-key' } },
        },
      })
      expect(card.text).toContain(`${prefix}/a2a/`)
      const whole = await acme('POST', path, rpc('GetExtendedAgentCard', {}))
      expect(whole.json).toMatchObject({ result: { name: 'agent' } })
      expect(card.headers.get('cache-control')).toContain('private')
    }
    expect((await other('GET', '/d/shop/a2a/agent/.well-known/agent-card.json')).status).toBe(404)
    expect((await call(door, 'POST', '/a2a/agent', message)).status).toBe(401)
    expect((await acme('POST', '/a2a/nobody', message)).status).toBe(404)
  })
})

describe('a stream', () => {
  const frames = (text: string) =>
    text.split('\n\n').flatMap((frame) => {
      const [, data] = /^data: (.*)$/m.exec(frame) ?? []
      const [, id] = /^id: (.*)$/m.exec(frame) ?? []
      if (data === undefined) return []
      const { result } = JSON.parse(data) as { result: Record<string, unknown> }
      return [{ seen: id, result }]
    })
  const token = (id: string, text: string, at: number) => ({ id: `3.${at}`, name: 'messages',
    json: JSON.stringify([{ type: 'AIMessageChunk', id, content: text }, {}]) })

  it('has the task, its tokens as chunks of a result, and its last status', async () => {
    const door = await openAgents()
    const sent = call(door, 'POST', '/a2a/agent', { jsonrpc: '2.0', id: 'x',
      method: 'SendStreamingMessage', params: { message: said('hi') } })
    await expect.poll(() => door.threads.lastRun?.listeners.size).toBe(1)
    const run = door.threads.lastRun
    const ai = `ai-${run.row.runId}`
    run.notify([token(ai, 'hel', 1), token(ai, 'lo', 2)])
    finish(door, run, 'hello')
    const events = frames((await sent).text)
    expect(events.map(({ result }) => Object.keys(result)[0])).toEqual(['task', 'statusUpdate',
      'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'])
    expect(events[0]!.result).toMatchObject({ task: { id: run.row.runId } })
    expect(events.slice(2, 5).map(({ result }) => result['artifactUpdate'])).toMatchObject([
      { artifact: { artifactId: ai, parts: [{ text: 'hel' }] }, append: false, lastChunk: false },
      { artifact: { parts: [{ text: 'lo' }] }, append: true, lastChunk: false },
      { artifact: { parts: [{ text: '' }] }, append: true, lastChunk: true },
    ])
    expect(events.at(-1)!.result).toMatchObject({
      statusUpdate: { taskId: run.row.runId, status: { state: 'TASK_STATE_COMPLETED' } },
    })
    expect(run.start).toMatchObject({ plan: { resumable: true } })
  })

  it('goes on behind the event that a client saw, with the next chunk', async () => {
    const door = await openAgents()
    const { task, run } = await begun(door)
    Object.assign(run.row, { status: 'running' })
    run.notify([token('m', 'one', 1), token('m', ' two', 2), token('m', ' three', 3)])
    const again = call(door, 'POST', '/a2a/agent', { jsonrpc: '2.0', id: 1,
      method: 'tasks/resubscribe', params: { id: task.id } }, { 'last-event-id': '3.1' })
    await expect.poll(() => run.listeners.size).toBe(1)
    finish(door, run, 'other')
    const events = frames((await again).text)
    expect(events.map(({ result: { kind } }) => kind)).toEqual(['task', 'artifact-update',
      'artifact-update', 'artifact-update', 'status-update'])
    expect(events[1]).toMatchObject({ seen: '3.2',
      result: { append: true, artifact: { parts: [{ kind: 'text', text: ' two' }] } } })
    expect(events.at(-1)!.result).toMatchObject({ final: true, status: { state: 'completed' } })
    expect((await ask(door, 'SubscribeToTask', { id: task.id })).error.code).toBe(-32004)
  })
})

describe('an agent card', () => {
  it('says where the agent is, in both versions, and is kept by its ETag', async () => {
    const door = await openAgents()
    const path = '/.well-known/agent-card.json'
    const found = await call(door, 'GET', `${path}?assistant_id=agent`)
    expect(found.headers.get('cache-control')).toContain('max-age=')
    const { json } = found
    const [{ url }] = json['supportedInterfaces'] as [{ url: string }]
    expect(json).toMatchObject({ name: 'agent', url, protocolVersion: '0.3.0',
      supportedInterfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0' }, {
        protocolVersion: '0.3',
      }], capabilities: { streaming: true }, skills: [{ id: 'agent' }] })
    const { pathname } = new URL(url)
    expect((await call(door, 'GET', `${pathname}${path}`)).json).toEqual(json)
    const same = await call(door, 'GET', `${pathname}${path}`, undefined, {
      'if-none-match': found.headers.get('etag')!,
    })
    expect(same).toMatchObject({ status: 304, text: '' })
    expect((await ask(door, 'GetExtendedAgentCard', {})).error.code).toBe(-32004)
    expect((await call(door, 'GET', path)).json).toMatchObject({ name: 'agent' })
    expect((await call(door, 'GET', `${path}?assistant_id=nobody`)).status).toBe(404)
  })

  it('is not there if A2A is off, and neither is the agent', async () => {
    const door = await openAgents({ agents: null })
    expect((await call(door, 'GET', '/.well-known/agent-card.json?assistant_id=agent')).status)
      .toBe(404)
    expect((await call(door, 'POST', '/a2a/agent', {})).status).toBe(404)
  })
})

describe('a request that is wrong', () => {
  it('has the error of JSON-RPC that its fault has', async () => {
    const door = await openAgents()
    const code = async (body: unknown, headers: Record<string, string> = {}) => {
      const { status, json } = await call(door, 'POST', '/a2a/agent', body, headers)
      expect(status).toBe(200)
      return (json as unknown as Answered).error.code
    }
    const good = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
    expect(await code('{"jsonrpc": "2.0"')).toBe(-32700)
    expect(await code([good])).toBe(-32600)
    expect(await code({ ...good, jsonrpc: '1.0' })).toBe(-32600)
    expect(await code({ ...good, id: {} })).toBe(-32600)
    expect(await code({ ...good, method: undefined })).toBe(-32600)
    expect(await code({ ...good, method: 'constructor' })).toBe(-32601)
    expect(await code({ ...good, params: [] })).toBe(-32602)
    expect(await code({ ...good, method: 'SendMessage' })).toBe(-32602)
    expect(await code(good, { 'a2a-version': '2.0' })).toBe(-32009)
    expect(await code({ ...good, method: 'tasks/pushNotificationConfig/set' })).toBe(-32602)
    const push = { message: said('hi'),
      configuration: { taskPushNotificationConfig: { url: 'https://x.test', token: 'a\nb' } } }
    expect(await code({ ...good, method: 'SendMessage', params: push })).toBe(-32602)
    const { json } = await call(door, 'POST', '/a2a/agent', good, { 'a2a-version': '1.0.1' })
    expect(json).toMatchObject({ result: { tasks: [] } })
    const events = await call(door, 'POST', '/a2a/agent', { ...good, method: 'SubscribeToTask',
      params: { id: 'nobody' } }, { accept: 'text/event-stream' })
    expect(events.headers.get('content-type')).toContain('text/event-stream')
    expect(events.text).toMatch(/^data: \{.*-32001.*\n\n$/)
    const context = { message: said('hi', { contextId: 'nonsense' }) }
    expect(await code({ ...good, method: 'SendMessage', params: context })).toBe(-32602)
  })

  it('whatever it is, is answered by JSON-RPC and never as a fault of the server', async () => {
    const door = await openAgents()
    const member = fc.oneof(fc.jsonValue(),
      fc.constantFrom('2.0', 'SendMessage', 'GetTask', 'message/send', 'tasks/get', 'ListTasks',
        'CancelTask', randomUUID()))
    const params = fc.oneof(fc.jsonValue(), fc.record({ id: member, message: fc.record({
      messageId: member,
      role: member,
      parts: fc.oneof(member,
        fc.array(fc.record({ text: member, data: member }, { requiredKeys: [] }))),
      contextId: member,
      taskId: member,
    }), historyLength: member, pageSize: member, pageToken: member }, { requiredKeys: [] }))
    const body = fc.oneof(fc.jsonValue(),
      fc.record({ jsonrpc: member, id: member, method: member, params }, {
        requiredKeys: ['jsonrpc', 'method'],
      }), fc.record({
        jsonrpc: fc.constant('2.0'),
        id: fc.integer(),
        params,
        method: fc.constantFrom('SendMessage', 'GetTask', 'tasks/get', 'ListTasks', 'CancelTask',
          'SubscribeToTask', 'message/stream'),
      }))
    await fc.assert(fc.asyncProperty(body, async (given) => {
      const { status, json } = await call(door, 'POST', '/a2a/agent', JSON.stringify(given))
      expect(status).toBe(200)
      expect(json['jsonrpc']).toBe('2.0')
      const { error } = json as { error?: { code: number } }
      expect(error?.code ?? 0).toBeLessThan(1)
      expect(error?.code).not.toBe(-32603)
    }), { numRuns: 60, interruptAfterTimeLimit: 400 })
  })
})
