/** Commands of protocol v2 over HTTP: what becomes of each, and of what is wrong. */

import { Auth } from '@langchain/langgraph-sdk/auth'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { seqBefore } from '../../../../src/thread/index.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { viewOf } from '../fake-threads.ts'
import { openLoginDoor } from '../login/login-door.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const threadId = '0198a2f0-0000-7000-8000-000000000001'
const path = `/threads/${threadId}/commands`
const interruptId = '0123456789abcdef0123456789abcdef'

const send = (door: OpenDoor, method: unknown, params?: unknown, id: unknown = 7) =>
  call(door, 'POST', path, { id, method, params })

async function withRun(): Promise<OpenDoor> {
  const door = await openDoor()
  door.threads.views.set(threadId, viewOf('local', threadId, { assistant_id: 'x' }))
  await send(door, 'run.start', { assistant_id: 'agent', input: {} })
  return door
}

const lastStart = (door: OpenDoor) => door.threads.given('startRun') as StartRun

describe('run.start', () => {
  it('creates the thread and the run, and answers with its id', async () => {
    const door = await openDoor()
    const { status, json } = await send(door, 'run.start', { assistant_id: 'agent', input: { a: 1 },
      config: { tags: ['t'] }, metadata: { m: 1 } })
    expect(status).toBe(200)
    const { runId } = door.threads.lastRun.row
    expect(json).toEqual({ type: 'success', id: 7, result: { run_id: runId },
      meta: { thread_id: threadId, applied_through_seq: seqBefore({ createdSeq: 1 }) } })
    expect(lastStart(door)).toMatchObject({ ifMissing: 'create', strategy: 'enqueue',
      graphId: 'agent', metadata: { m: 1 }, answersIfWaiting: true,
      kwargs: { input: { a: 1 }, config: { tags: ['t'] } }, plan: { threadEvents: true } })
  })

  it.each([
    [{ multitaskStrategy: 'interrupt' }, 'interrupt'],
    [{ multitask_strategy: 'rollback' }, 'rollback'],
    [{ multitaskStrategy: 'rollback', multitask_strategy: 'interrupt' }, 'interrupt'],
  ])('takes both spellings, and snake case wins: %j', async (params, strategy) => {
    const door = await openDoor()
    await send(door, 'run.start', { assistantId: 'agent', input: {}, ...params })
    expect(lastStart(door).strategy).toBe(strategy)
  })

  it.each([
    ['no input', {}],
    ['null', { input: null }],
    ['a checkpoint', { input: {}, config: { configurable: { checkpoint_id: 'c' } } }],
    ['a command', { input: {}, command: { goto: 'a' } }],
  ])('is no answer to an interrupt with %s', async (_name, params) => {
    const door = await openDoor()
    await send(door, 'run.start', { assistant_id: 'agent', ...params })
    expect(lastStart(door).answersIfWaiting).toBeUndefined()
  })

  it.each([
    [undefined, /assistant_id: is required/],
    ['text', /assistant_id: is required/],
    [{ assistant_id: 5 }, /assistant_id: must be a string/],
    [{ assistant_id: 'agent', config: 'x' }, /config: must be an object/],
    [{ assistant_id: 'agent', metadata: [] }, /metadata: must be an object/],
    [{ assistant_id: 'agent', multitaskStrategy: 'x' }, /multitask_strategy: must be one of/],
    [{ assistant_id: 'nobody' }, /No assistant found/],
    [{ assistant_id: 'agent', webhook: 'ftp://x' }, /webhook/],
  ])('with %j is refused', async (params, message) => {
    const { status, json } = await send(await openDoor(), 'run.start', params)
    expect(status).toBe(200)
    expect(json).toMatchObject({ type: 'error', id: 7, error: 'invalid_argument' })
    expect(json.message).toMatch(message)
  })
})

describe('input.respond', () => {
  it('answers with the assistant of the run that asked', async () => {
    const door = await withRun()
    const first = lastStart(door)
    const { json } = await send(door, 'input.respond', { namespace: [], interrupt_id: interruptId,
      response: { ok: true }, update: { a: 1 }, goto: 'a', strict_resume: true })
    expect(json).toMatchObject({ type: 'success', result: { run_id: expect.any(String) } })
    expect(lastStart(door)).toMatchObject({ assistantId: first.assistantId, resumeOnly: true,
      strictResume: true,
      kwargs: { input: null,
        command: { resume: { [interruptId]: { ok: true } }, update: { a: 1 }, goto: 'a' } } })
  })

  it('takes several answers at once', async () => {
    const door = await withRun()
    const other = interruptId.replace('0', 'f')
    await send(door, 'input.respond', { responses: [
      { namespace: [], interrupt_id: interruptId, response: 1 },
      { namespace: ['a'], interruptId: other, response: null },
    ] })
    expect(lastStart(door).kwargs.command)
      .toEqual({ resume: { [interruptId]: 1, [other]: null } })
  })

  it.each([
    [{ namespace: [], response: 1 }, 'invalid_argument'],
    [{ namespace: 'x', interrupt_id: interruptId, response: 1 }, 'invalid_argument'],
    [{ interrupt_id: 5, response: 1 }, 'invalid_argument'],
    [{ responses: [] }, 'invalid_argument'],
    [{ responses: 'x' }, 'invalid_argument'],
    [{ responses: [5] }, 'invalid_argument'],
    [{ interrupt_id: interruptId, response: 1, goto: 5 }, 'invalid_argument'],
    [{ interrupt_id: 'made-up', response: 1 }, 'no_such_interrupt'],
    [{ interrupt_id: '__proto__', response: 1 }, 'no_such_interrupt'],
  ])('with %j is refused', async (params, error) => {
    const { status, json } = await send(await withRun(), 'input.respond', params)
    expect(status).toBe(200)
    expect(json).toMatchObject({ type: 'error', error })
  })

  it('leaves it to the thread which interrupts wait, whatever the newest run asked', async () => {
    const door = await withRun()
    Object.assign(door.threads.lastRun.row, {
      interruptsJson: `{"t":[{"id":"${interruptId.replace('0', 'f')}","value":"?"}]}`,
    })
    expect((await send(door, 'input.respond', { interrupt_id: interruptId, response: 1 })).json)
      .toMatchObject({ type: 'success' })
    expect(lastStart(door).kwargs.command).toEqual({ resume: { [interruptId]: 1 } })
  })

  it.each([['input.respond', { interrupt_id: interruptId, response: 1 }], ['state.fork', {
    checkpoint_id: 'c',
  }]])('%s uses the assistant of the source on a copy without runs', async (method, params) => {
    const door = await openDoor()
    await send(door, 'run.start', { assistant_id: 'agent', input: {} })
    const { assistantId } = lastStart(door)
    door.threads.runs.clear()
    door.threads.views.set(threadId, viewOf('local', threadId, { assistant_id: assistantId }))
    expect((await send(door, method, params)).json).toMatchObject({ type: 'success' })
    expect(lastStart(door)).toMatchObject({ assistantId })
  })

  it('says so when nothing waits', async () => {
    const door = await withRun()
    const { startRun } = door.threads
    door.threads.startRun = () => Promise.reject(new HeddleError('invalid', 'nothing waits'))
    const { json } = await send(door, 'input.respond', { interrupt_id: interruptId, response: 1 })
    expect(json).toMatchObject({ error: 'no_such_interrupt', message: 'nothing waits' })
    door.threads.startRun = startRun
  })

  it('on an unknown thread is answered with 404', async () => {
    const { status } = await send(await openDoor(), 'input.respond', { interrupt_id: interruptId,
      response: 1 })
    expect(status).toBe(404)
  })
})

describe('state.get', () => {
  it('names the namespace and the keys as the state has them', async () => {
    const door = await withRun()
    const { json } = await send(door, 'state.get', { namespace: ['a:1', 'b:2'], keys: ['k'] })
    expect(door.threads.given('state')).toMatchObject({ checkpointNs: 'a:1|b:2',
      select: ['checkpoint', 'values.k'] })
    expect(json).toMatchObject({ error: 'no_such_namespace' })
  })

  it.each([[{ namespace: 'a' }], [{ namespace: [1] }], [{ keys: 'a' }], [{ keys: [''] }]])(
    'with %j is refused',
    async (params) => {
      const { json } = await send(await withRun(), 'state.get', params)
      expect(json).toMatchObject({ error: 'invalid_argument' })
    },
  )

  it('of an unknown thread is answered with 404', async () => {
    expect((await send(await openDoor(), 'state.get', { namespace: [] })).status).toBe(404)
  })
})

it('state.listCheckpoints answers with a summary of each', async () => {
  const door = await withRun()
  const state = { checkpoint: { checkpoint_id: 'b' }, parent_checkpoint: { checkpoint_id: 'a' },
    created_at: 'then', metadata: { step: 1, source: 'loop' } }
  door.threads.historyOf = () => [{ states: [JSON.stringify(state)], isLast: true }]
  const { json } = await send(door, 'state.listCheckpoints', { limit: 5, before: 'x' })
  expect(json.result).toEqual({
    checkpoints: [{ id: 'b', parent_id: 'a', timestamp: 'then', step: 1, source: 'loop',
      metadata: { step: 1, source: 'loop' } }],
  })
  expect(door.threads.given('history')).toMatchObject({ limit: 5, before: 'x', checkpointNs: '' })
  expect((await send(door, 'state.listCheckpoints', { limit: 0 })).json)
    .toMatchObject({ error: 'invalid_argument' })
})

describe('state.fork', () => {
  it('starts a run from the checkpoint', async () => {
    const door = await withRun()
    const { json } = await send(door, 'state.fork', { checkpoint_id: 'c', input: { a: 1 } })
    expect(json.result).toEqual({ run_id: door.threads.lastRun.row.runId, thread_id: threadId })
    expect(lastStart(door).kwargs).toMatchObject({ checkpoint: { checkpoint_id: 'c' },
      input: { a: 1 } })
  })

  it('from an unknown checkpoint is refused', async () => {
    const door = await withRun()
    door.threads.state = () => Promise.reject(new HeddleError('not_found', 'no checkpoint'))
    expect((await send(door, 'state.fork', { checkpoint_id: 'c' })).json)
      .toMatchObject({ error: 'no_such_checkpoint' })
    expect((await send(door, 'state.fork', {})).json).toMatchObject({ error: 'invalid_argument' })
  })
})

describe('agent.getTree', () => {
  it('answers with the graphs of the newest run', async () => {
    const door = await withRun()
    door.threads.graphs = { isCut: false, graphs: [
      { ns: 'sub:1', status: 'interrupted' },
      { ns: 'sub:1|leaf:2', status: 'completed' },
      { ns: 'sub:1|leaf:3', status: 'running' },
      { ns: 'late:4|1', status: 'running' },
    ] }
    const { json } = await send(door, 'agent.getTree')
    expect(json.result).toEqual({
      tree: { namespace: [], status: 'started', graph_name: 'agent', children: [
        { namespace: ['sub:1'], status: 'interrupted', graph_name: 'sub', children: [
          { namespace: ['sub:1', 'leaf:2'], status: 'completed', graph_name: 'leaf' },
          { namespace: ['sub:1', 'leaf:3'], status: 'interrupted', graph_name: 'leaf' },
        ] },
        { namespace: ['late:4'], status: 'running', graph_name: 'late', children: [
          { namespace: ['late:4', '1'], status: 'running', graph_name: '1' },
        ] },
      ] },
    })
    expect(door.threads.given('runGraphs')).toBe(door.threads.lastRun.row.runId)
  })

  it.each([
    ['success', '{"task":[]}', 'interrupted'],
    ['error', '{"task":[]}', 'failed'],
    ['timeout', '{"task":[{"id":"a"}]}', 'failed'],
    ['interrupted', '{}', 'interrupted'],
  ])('of a run with the status %s and the interrupts %s is %s',
    async (status, interrupts, root) => {
      const door = await withRun()
      Object.assign(door.threads.lastRun.row, { status, interruptsJson: interrupts })
      const { json } = await send(door, 'agent.getTree')
      expect(json.result).toMatchObject({ tree: { status: root } })
    })

  it('of a run with too many graphs says so', async () => {
    const door = await withRun()
    door.threads.graphs = { graphs: [], isCut: true }
    const { json } = await send(door, 'agent.getTree', { run_id: door.threads.lastRun.row.runId })
    expect(json.result).toMatchObject({ tree: { namespace: [] }, truncated: true })
  })

  it('of an unknown run is refused', async () => {
    expect((await send(await withRun(), 'agent.getTree', { run_id: 'x' })).json)
      .toMatchObject({ error: 'no_such_run' })
  })
})

describe('input.inject', () => {
  const message = { role: 'user', content: 'also this' }

  it('puts a message for the run that executes into the queue, as that is configured', async () => {
    const door = await withRun()
    const { json } = await send(door, 'input.inject', { namespace: [], message })
    expect(json).toMatchObject({ type: 'success', id: 7, result: {} })
    const { plan, kwargs, ifMissing, strategy } = lastStart(door)
    expect({ plan, ifMissing, strategy }).toMatchObject({ ifMissing: 'reject', strategy: 'enqueue',
      plan: { injects: true, threadEvents: true } })
    expect(kwargs['input']).toEqual({ messages: [{ ...message, id: expect.any(String) }] })
    await send(door, 'input.inject', { message: { ...message, id: 'own', name: 'ada' } })
    expect(lastStart(door).kwargs['input'])
      .toEqual({ messages: [{ ...message, id: 'own', name: 'ada' }] })
  })

  it.each<[string, object, string]>([
    ['another namespace', { namespace: ['a:1'], message }, 'not_supported'],
    ['another role', { message: { ...message, role: 'assistant' } }, 'invalid_argument'],
    ['no text', { message: { role: 'user', content: [] } }, 'invalid_argument'],
    ['a long text', { message: { ...message, content: 'x'.repeat(100_001) } }, 'invalid_argument'],
    ['no message', { namespace: [] }, 'invalid_argument'],
  ])('is refused for %s', async (_name, params, error) => {
    const door = await withRun()
    expect((await send(door, 'input.inject', params)).json).toMatchObject({ type: 'error', error })
  })

  it('gets the config and the context of a run of the same user only', async () => {
    const sharedThreads = new Auth().authenticate((request) =>
      request.headers.get('authorization')!.replace('Bearer ', '')
    )
    const { door, as } = await openLoginDoor(sharedThreads)
    door.threads.views.set(threadId, viewOf('local', threadId, { assistant_id: 'x' }))
    const secret = { api_password: 'of ann' }
    const by = (name: string, method: string, params: object) =>
      as(name, 'POST', path, { id: 7, method, params })
    await by('ann', 'run.start', { assistant_id: 'agent', input: {},
      config: { configurable: secret, tags: ['of ann'] } })
    const executing = door.threads.lastRun
    await by('ben', 'input.inject', { message })
    expect(lastStart(door).plan.userId).toBe('ben')
    expect(JSON.stringify(lastStart(door).kwargs)).not.toContain('of ann')
    door.threads.runs.delete(door.threads.lastRun.row.runId)
    expect(door.threads.lastRun).toBe(executing)
    await by('ann', 'input.inject', { message })
    expect(lastStart(door).kwargs['config']).toMatchObject({ configurable: secret })
  })

  it('is refused where no run executes, and by a graph without messages', async () => {
    const door = await withRun()
    const refuse = async (code: 'not_found' | 'unsupported') => {
      door.threads.refusedStart = new HeddleError(code, 'No.')
      return (await send(door, 'input.inject', { message })).json.error
    }
    expect(await refuse('not_found')).toBe('no_such_run')
    expect(await refuse('unsupported')).toBe('not_supported')
    expect((await send(await openDoor(), 'input.inject', { message })).status).toBe(404)
  })
})

describe('a command', () => {
  it.each([
    ['input.inject', 'invalid_argument'],
    ['subscription.subscribe', 'not_supported'],
    ['subscription.reconnect', 'not_supported'],
    ['run.stop', 'unknown_command'],
    [5, 'unknown_command'],
    [undefined, 'unknown_command'],
    ['toString', 'unknown_command'],
  ])('%s is answered with %s', async (method, error) => {
    const { status, json } = await send(await openDoor(), method, {})
    expect([status, json.type, json.id, json.error]).toEqual([200, 'error', 7, error])
  })

  it.each([[-1], [1.5], ['1'], [null], [{}]])('with the id %j is no command', async (id) => {
    expect((await send(await openDoor(), 'state.get', {}, id)).status).toBe(422)
  })

  it.each([['{', 400], ['[]', 422], ['5', 422], ['', 422]])('%j is answered with %s',
    async (body, status) => {
      expect((await call(await openDoor(), 'POST', path, body)).status).toBe(status)
    })

  it('on what cannot be a thread is answered with 422', async () => {
    expect((await call(await openDoor(), 'POST', '/threads/x/commands', { id: 1 })).status)
      .toBe(422)
  })

  it.each([['unavailable', 503], ['full', 429], ['over_quota', 429]] as const)(
    'that fails as %s is answered with %s',
    async (code, status) => {
      const door = await withRun()
      door.threads.failure = new HeddleError(code)
      const answer = await send(door, 'state.get', {})
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, '1'])
    },
  )

  it('with a long input is carried out, and the input is not parsed here', async () => {
    const door = await openDoor()
    const input = { text: 'x'.repeat(300_000) }
    await send(door, 'run.start', { assistant_id: 'agent', input })
    expect(JSON.stringify(lastStart(door).kwargs.input)).toBe(JSON.stringify(input))
  })
})
