/** The bakery as a tool of MCP and an agent of A2A, each begun at one door and continued later. */

import { expect } from 'vitest'

import type { Gate } from '../../support/gate.ts'
import { say, texts } from '../../support/run-events.ts'
import type { Bakery } from './bakery.ts'

/** What a test goes on with, at whatever doors there are then. */
export type Resume = (bakery: Bakery) => Promise<void>

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const revision = '2025-11-25'

/** The messages of a stream, one after another. */
async function* messagesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Message> {
  let text = ''
  for await (const chunk of stream) {
    text += chunk.toString()
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      const data = /^data: (.+)$/m.exec(frame)?.[1]
      if (data !== undefined) yield JSON.parse(data) as Message
    }
  }
}

/** A session begins at one door; its tools are listed and called at each. */
export async function beginsSession(bakery: Bakery): Promise<Resume> {
  const begun = await bakery.ask(0, 'alice', { method: 'POST', path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'initialize',
      params: { protocolVersion: revision, capabilities: { elicitation: {} },
        clientInfo: { name: 'test', version: '1' } } } })
  expect(begun).toMatchObject({ status: 200, json: { result: { protocolVersion: revision } } })
  const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']),
    'mcp-protocol-version': revision, accept: 'application/json, text/event-stream' }
  const resume: Resume = async (doors) => {
    const listed = await doors.everywhere('alice', { method: 'POST', path: '/mcp', headers,
      body: { jsonrpc: '2.0', id: 2, method: 'tools/list' } })
    expect(listed.json).toMatchObject({
      result: { tools: [{ name: 'bakery', description: 'Takes orders, and asks about them.' }] },
    })
    await answersQuestion(doors, headers)
  }
  await resume(bakery)
  return resume
}

/** A call asks at one door, is answered at another, and ends at the first. */
async function answersQuestion(bakery: Bakery, headers: Record<string, string>): Promise<void> {
  const calling = await bakery.open(0, 'alice', { method: 'POST', path: '/mcp', headers,
    body: { jsonrpc: '2.0', id: 3, method: 'tools/call',
      params: { name: 'bakery', arguments: say('ask cake') } } })
  const messages = messagesOf(calling)
  const { value: question } = await messages.next() as { value: Message }
  expect(question).toMatchObject({ method: 'elicitation/create' })
  expect(JSON.stringify(question)).toContain('Which cake?')
  const answered = await bakery.ask(1, 'alice', { method: 'POST', path: '/mcp', headers,
    body: { jsonrpc: '2.0', id: question.id,
      result: { action: 'accept', content: { answer: 'the plum one' } } } })
  expect(answered.status).toBe(202)
  const { value: last } = await messages.next() as { value: Message }
  expect(last.error).toBeUndefined()
  const { structuredContent } = last.result as { readonly structuredContent: unknown }
  expect(texts(structuredContent).slice(1))
    .toEqual(['You said the plum one.', 'I heard: ask cake.'])
}

interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string }
}

/** Sends a message of JSON-RPC to the agent. Resolves with its result. */
async function call<Result>(bakery: Bakery, door: number, user: string, method: string,
  params: object): Promise<Result> {
  const { result } = await bakery.get<{ readonly result: Result }>(door, user, { method: 'POST',
    path: '/a2a/bakery', body: { jsonrpc: '2.0', id: 1, method, params } })
  return result
}

const said = (text: string, more: object = {}) => ({
  message: { kind: 'message', role: 'user', messageId: crypto.randomUUID(),
    parts: [{ kind: 'text', text }], ...more },
})

/** A task begins and asks at one door; it is followed, and answered, at others. */
export async function beginsTask(bakery: Bakery): Promise<Resume & { readonly contextId: string }> {
  const begun = await call<Task>(bakery, 0, 'alice', 'message/send', said('ask tart'))
  expect(begun.status).toMatchObject({ state: 'input-required' })
  const { id, contextId } = begun
  const asked = { method: 'POST', path: '/a2a/bakery',
    body: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } } }
  const resume: Resume = async (doors) => {
    const seen = await doors.everywhere('alice', asked)
    expect(seen.json).toMatchObject({ result: { id, status: { state: 'input-required' } } })
    expect(JSON.stringify(seen.json)).toContain('Which tart?')
    expect((await doors.everywhere('bob', asked)).json).toMatchObject({ error: { code: -32_001 } })
    const ended = await call<Task>(doors, 1, 'alice', 'message/send',
      said('apple', { taskId: id, contextId }))
    expect(ended).toMatchObject({ id, status: { state: 'completed' } })
    expect((await doors.everywhere('alice', asked)).json)
      .toMatchObject({ result: { id, status: { state: 'completed' } } })
    const followed = await doors.everywhere('alice', { method: 'POST', path: '/a2a/bakery',
      body: { jsonrpc: '2.0', id: 2, method: 'tasks/list', params: { contextId } } })
    expect(followed.json).toMatchObject({ result: { tasks: [{ id }] } })
  }
  return Object.assign(resume, { contextId })
}

/** A task that works is followed at another door to its end. */
export async function isFollowed(bakery: Bakery, gate: Gate): Promise<void> {
  const sent = await call<Task>(bakery, 0, 'alice', 'message/send', {
    ...said(`hold ${gate.url}`),
    configuration: { blocking: false },
  })
  const stream = await bakery.open(2, 'alice', { method: 'POST', path: '/a2a/bakery',
    body: { jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: sent.id } } })
  const messages = messagesOf(stream)
  expect((await messages.next()).value).toMatchObject({ result: { id: sent.id } })
  gate.open()
  let last: Message | undefined
  for await (const message of messages) last = message
  expect(last).toMatchObject({
    result: { taskId: sent.id, final: true, status: { state: 'completed' } },
  })
}

/** A task is streamed at one door, followed at another, and cancelled at a third. */
export async function isCancelled(bakery: Bakery, gate: Gate): Promise<void> {
  const follow = async (door: number, method: string, params: object) =>
    messagesOf(
      await bakery.open(door, 'alice', { method: 'POST', path: '/a2a/bakery',
        body: { jsonrpc: '2.0', id: 1, method, params } }),
    )
  const streamed = await follow(0, 'message/stream', said(`hold ${gate.url}`))
  const { value: begun } = await streamed.next() as { value: { readonly result: Task } }
  const { id } = begun.result
  await gate.arrived()
  const followed = await follow(1, 'tasks/resubscribe', { id })
  expect((await followed.next()).value).toMatchObject({ result: { id } })
  const cancel = { method: 'POST', path: '/a2a/bakery',
    body: { jsonrpc: '2.0', id: 1, method: 'tasks/cancel', params: { id } } }
  expect((await bakery.ask(2, 'bob', cancel)).json).toMatchObject({ error: { code: -32_001 } })
  expect(await call<Task>(bakery, 2, 'alice', 'tasks/cancel', { id }))
    .toMatchObject({ id, status: { state: 'canceled' } })
  await gate.left()
  for (const messages of [streamed, followed]) {
    let last: Message | undefined
    for await (const message of messages) last = message
    expect(last).toMatchObject({
      result: { taskId: id, final: true, status: { state: 'canceled' } },
    })
  }
  const seen = await bakery.everywhere('alice', { ...cancel,
    body: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } } })
  expect(seen.json).toMatchObject({ result: { id, status: { state: 'canceled' } } })
}

/** The card of the agent is open, and says the address at which it was asked. */
export async function showsCard(bakery: Bakery): Promise<void> {
  const path = '/.well-known/agent-card.json?assistant_id=bakery'
  const card = await bakery.everywhere('alice', { method: 'GET', path })
  expect(card).toMatchObject({ status: 200, json: { name: 'bakery' } })
}
