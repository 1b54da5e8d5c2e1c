/**
 * Every command, tool method, agent method and typed call, by users who may not. The lists come
 * from the tables by which the code itself finds what to do: a new entry needs its case here.
 */

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport } from '@connectrpc/connect-node'
import { describe, expect, it } from 'vitest'

import { AssistantService } from '../../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import { methodNames } from '../../../../src/frontdoor/a2a/methods.ts'
import { methodsOf } from '../../../../src/frontdoor/mcp/methods.ts'
import { commandNames } from '../../../../src/frontdoor/protocol-v2/commands.ts'
import type { CommandName } from '../../../../src/frontdoor/protocol-v2/commands.ts'
import { callCases } from '../../../conformance/access-cases.ts'
import { threadEvent } from '../fake-threads.ts'
import { done, giveAnn, mark, openLoginDoor, socketOf, threadId } from './login-door.ts'

/** Error of a command that is not carried out, whoever asks for it: nothing is asked for it. */
const never = 'not_supported'

/** By command: its params, and the errors for `out`, who may do nothing, and for `ben`. */
const commands: Readonly<Record<CommandName, {
  readonly params: object
  readonly out: string
  readonly ben: string
}>> = {
  'run.start': { params: { assistant_id: 'agent', input: {} }, out: 'permission_denied',
    ben: 'invalid_argument' },
  'input.respond': { params: { interrupt_id: 'f'.repeat(32), response: 1 },
    out: 'permission_denied', ben: 'invalid_argument' },
  'input.inject': { params: { message: { role: 'user', content: 'x' } }, out: 'permission_denied',
    ben: 'invalid_argument' },
  'state.get': { params: {}, out: 'permission_denied', ben: 'invalid_argument' },
  'state.listCheckpoints': { params: {}, out: 'permission_denied', ben: 'invalid_argument' },
  'state.fork': { params: { checkpoint_id: 'c' }, out: 'permission_denied',
    ben: 'invalid_argument' },
  'agent.getTree': { params: {}, out: 'permission_denied', ben: 'invalid_argument' },
  'subscription.subscribe': { params: { channels: ['values'] }, out: never, ben: never },
  'subscription.unsubscribe': { params: { subscription_id: 'x' }, out: never, ben: never },
  'subscription.reconnect': { params: {}, out: never, ben: never },
}

/** Errors that HTTP answers by a status. */
const statuses: Readonly<Record<string, number>> = { permission_denied: 403, invalid_argument: 404 }

describe('a command of protocol v2', () => {
  it.each(commandNames)('%s is refused over HTTP', async (method) => {
    const opened = await openLoginDoor()
    const runId = await giveAnn(opened)
    for (const name of ['out', 'ben'] as const) {
      const { params, [name]: error } = commands[method]
      const { status, text } = await opened.as(name, 'POST', `/threads/${threadId}/commands`, {
        id: 1,
        method,
        params,
      })
      // That a run cannot be started is said of its params: the thread could have been made.
      const isOfCommand = error === never || method === 'run.start' && name === 'ben'
      expect([name, status]).toEqual([name, isOfCommand ? 200 : statuses[error]])
      if (isOfCommand) expect(JSON.parse(text)).toMatchObject({ type: 'error', error })
      for (const secret of [mark, runId, 'ann']) expect(text).not.toContain(secret)
    }
    expect(done(opened.door)).toEqual([])
  })

  it.each(commandNames)('%s is refused over a WebSocket', async (method) => {
    const opened = await openLoginDoor()
    const runId = await giveAnn(opened)
    for (const name of ['out', 'ben'] as const) {
      const { frames, ask } = await socketOf(opened.door, name)
      const { params, [name]: error } = commands[method]
      const answer = await ask(method, params, 1)
      const [subscribes, unsubscribes] = [method === 'subscription.subscribe',
        method === 'subscription.unsubscribe']
      const refusal = name === 'out' ? 'permission_denied' : 'invalid_argument'
      const expected = subscribes ? refusal : unsubscribes ? 'no_such_subscription' : error
      expect(answer).toMatchObject({ type: 'error', error: expected })
      opened.door.threads.eventsOf('local', threadId).notify([
        threadEvent(1, { data: `"${mark}"` }),
      ])
      // The answer to another command comes behind what came before.
      await ask('nothing', {}, 2)
      expect(frames).toHaveLength(2)
      for (const secret of [mark, runId, 'ann']) {
        expect(JSON.stringify(frames)).not.toContain(secret)
      }
    }
    expect(done(opened.door)).toEqual([])
  })

  it('is for nobody over a WebSocket of a caller that the login does not know', async () => {
    const opened = await openLoginDoor()
    expect(await (await socketOf(opened.door, 'a b')).closed).toBe(4401)
  })
})

describe('the events of a thread over HTTP', () => {
  it('are sent to who sees the thread, and rejected with 404 for others', async () => {
    const opened = await openLoginDoor()
    await giveAnn(opened)
    const path = `/threads/${threadId}/stream/events`
    const body = { channels: ['values'] }
    expect((await opened.as('out', 'POST', path, body)).status).toBe(403)
    expect((await opened.as(undefined, 'POST', path, body)).status).toBe(401)
    opened.door.threads.eventsOf('local', threadId).notify([threadEvent(1, { data: `"${mark}"` })])
    const left = new AbortController()
    const read = async (name: string) => {
      const { body: events } = await fetch(opened.door.url + path, { method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${name}` },
        signal: left.signal })
      const { value } = await events!.getReader().read()
      return Buffer.from(value as Uint8Array).toString()
    }
    expect(await read('ann')).toContain(mark)
    expect(opened.door.threads.eventsOf('local', threadId).listeners.size).toBe(1)
    left.abort()
    expect((await opened.as('ben', 'POST', path, body)).status).toBe(404)
  })
})

/** By method of agents: its params for what is Ann's. All versions of it have the same. */
const ofAgents = (runId: string): Readonly<Record<string, object>> => {
  const message = { messageId: 'm', contextId: threadId, role: 'ROLE_USER', parts: [{ text: 'x' }] }
  const former = { ...message, kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
  const task = { id: runId }
  const push = { taskId: runId, id: runId, url: 'https://a.example',
    pushNotificationConfigId: runId, pushNotificationConfig: { url: 'https://a.example' } }
  return { 'SendMessage': { message }, 'SendStreamingMessage': { message },
    'message/send': { message: former }, 'message/stream': { message: former }, 'GetTask': task,
    'tasks/get': task, 'CancelTask': task, 'tasks/cancel': task, 'SubscribeToTask': task,
    'tasks/resubscribe': task, 'ListTasks': {}, 'tasks/list': {}, 'GetExtendedAgentCard': {},
    'agent/getAuthenticatedExtendedCard': {}, 'CreateTaskPushNotificationConfig': push,
    'GetTaskPushNotificationConfig': push, 'ListTaskPushNotificationConfigs': push,
    'DeleteTaskPushNotificationConfig': push, 'tasks/pushNotificationConfig/set': push,
    'tasks/pushNotificationConfig/get': push, 'tasks/pushNotificationConfig/list': push,
    'tasks/pushNotificationConfig/delete': push }
}

/** Methods that answer each user with what is their own. */
const answersBen: ReadonlySet<string> = new Set(['ListTasks', 'tasks/list', 'GetExtendedAgentCard',
  'agent/getAuthenticatedExtendedCard'])

describe('a method of agents', () => {
  it.each(methodNames)('%s is refused', async (method) => {
    const opened = await openLoginDoor()
    const runId = await giveAnn(opened)
    const params = ofAgents(runId)[method]
    expect(params).toBeDefined()
    const body = { jsonrpc: '2.0', id: 1, method, params }
    expect((await opened.as('out', 'POST', '/a2a/agent', body)).status).toBe(403)
    expect((await opened.as(undefined, 'POST', '/a2a/agent', body)).status).toBe(401)
    const { text } = await opened.as('ben', 'POST', '/a2a/agent', body)
    expect([method, text.includes('"error"')]).toEqual([method, !answersBen.has(method)])
    // The id that a client sends comes back.
    for (const secret of [mark, 'ann']) expect(text).not.toContain(secret)
    expect(done(opened.door)).toEqual([])
  })
})

/** By method of tools: its params, and the status for `out`, who may do nothing. */
const ofTools: Readonly<Record<string, readonly [params: object, status: number]>> = {
  'initialize': [{ protocolVersion: '2025-11-25', capabilities: {} }, 200],
  'ping': [{}, 200],
  'server/discover': [{}, 200],
  'tools/list': [{}, 403],
  'tools/call': [{ name: 'agent', arguments: {} }, 403],
  'subscriptions/listen': [{ notifications: { toolsListChanged: true } }, 403],
}

describe('a method of tools', () => {
  const eras = Object.entries(methodsOf).flatMap(([era, methods]) =>
    methods.map((method) => [era, method] as const)
  )
  it.each(eras)('of the %s revision, %s', async (era, method) => {
    const opened = await openLoginDoor()
    const [params, status] = ofTools[method]!
    const version = '2026-07-28'
    const meta = {
      _meta: { 'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' } },
    }
    const headers: Record<string, string> = era === 'modern'
      ? { 'mcp-protocol-version': version, 'mcp-method': method,
        ...method === 'tools/call' && { 'mcp-name': 'agent' } }
      : {}
    const body = { jsonrpc: '2.0', id: 1, method,
      params: { ...params, ...era === 'modern' && meta } }
    const answer = await opened.as('out', 'POST', '/mcp', body, headers)
    expect([answer.status, answer.text]).toEqual([status, expect.anything()])
    expect((await opened.as(undefined, 'POST', '/mcp', body, headers)).status).toBe(401)
    expect(done(opened.door)).toEqual([])
  })
})

const services = [AssistantService, ThreadService, RunService, StoreService, CronService]
type Calls = Readonly<Record<string, (request: object, options: object) => unknown>>

describe('a typed call', () => {
  const calls = services.flatMap((service) =>
    service.methods.map(({ localName }) => [service, localName] as const)
  )
  it('is refused to who may do nothing, whichever it is', async () => {
    const opened = await openLoginDoor()
    const runId = await giveAnn(opened)
    const transport = createConnectTransport({ baseUrl: opened.door.url, httpVersion: '1.1' })
    const of = { threadId, runId, lonelyRunId: runId, assistantId: 'agent', checkpointId: 'c',
      cronId: runId, keyId: '' }
    for (const [service, method] of calls) {
      const name = `${service.typeName.split('.').at(-1)!}.${method}`
      const client = createClient(service as typeof RunService, transport) as unknown as Calls
      const codeFor = async (headers: object): Promise<unknown> => {
        try {
          const called = client[method]!(callCases[name]!.body?.(of) ?? {}, { headers })
          if (called instanceof Promise) return await called
          for await (const each of called as AsyncIterable<unknown>) return each
        } catch (error) {
          return ConnectError.from(error).code
        }
        return 'nothing'
      }
      expect([name, await codeFor({ authorization: 'Bearer out' })])
        .toEqual([name, Code.PermissionDenied])
      expect([name, await codeFor({})]).toEqual([name, Code.Unauthenticated])
    }
    expect(done(opened.door)).toEqual([])
  })
})
