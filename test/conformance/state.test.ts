/** State snapshots: read at the head and at any checkpoint, and changed from outside. */

import { randomUUID } from 'node:crypto'
import type { ThreadState } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { nextMillisecond } from '../support/millisecond.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

/** Fields of the specification that the client's type lacks. */
type Snapshot = ThreadState & { checkpoint_id: string; parent_checkpoint_id: string }

async function threadAfter(graphId: string, input: Record<string, unknown>) {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, graphId, { input })
  return id
}

describe('the state of a thread', () => {
  it('is empty for a new thread', async () => {
    const { thread_id: id } = await server.client.threads.create()
    expect(await server.client.threads.getState(id)).toMatchObject({
      values: {},
      next: [],
      tasks: [],
      checkpoint: null,
      parent_checkpoint: null,
      created_at: null,
    })
    expect(await server.client.threads.getHistory(id)).toEqual([])
  })

  it('shows everything about the newest checkpoint', async () => {
    const id = await threadAfter('steps', { topic: 't' })
    const state = await server.client.threads.getState(id) as Snapshot
    const checkpoint = (checkpointId: string) => ({
      checkpoint_id: checkpointId,
      thread_id: id,
      checkpoint_ns: '',
    })
    expect(state).toMatchObject({
      values: { topic: 't', log: ['a:t', 'b:t', 'c:t'] },
      next: [],
      tasks: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/),
      checkpoint: checkpoint(state.checkpoint_id),
      parent_checkpoint: checkpoint(state.parent_checkpoint_id),
      metadata: {
        thread_id: id,
        checkpoint_id: state.checkpoint_id,
        graph_id: 'steps',
        source: 'loop',
        step: 3,
        parents: {},
        writes: { c: { log: ['c:t'] } },
      },
    })
    expect(state.parent_checkpoint_id < state.checkpoint_id).toBe(true)
  })

  it('holds messages as the specification shows them', async () => {
    const id = await threadAfter('echo', say('hello'))
    const { values } = await server.client.threads.getState<{ messages: object[] }>(id)
    expect(values.messages).toMatchObject([
      { type: 'human', content: 'hello', additional_kwargs: {}, response_metadata: {},
        id: expect.stringMatching(/./) },
      { type: 'ai', content: 'echo: hello', tool_calls: [], invalid_tool_calls: [],
        id: expect.stringMatching(/./) },
    ])
  })

  it('shows which tasks wait, and where', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.wait(id, 'ask', { input: { question: 'q' } })
    expect(await server.client.threads.getState(id)).toMatchObject({
      next: ['ask'],
      tasks: [{ id: expect.any(String), name: 'ask', error: null, path: ['__pregel_pull', 'ask'],
        interrupts: [{ id: expect.any(String), value: { question: 'q' } }], state: null,
        result: null }],
    })
  })

  it('shows the error of a failed task, as JSON in a string', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.wait(id, 'failing', { input: { topic: 'bad' }, raiseError: false })
    const { next, tasks } = await server.client.threads.getState(id)
    expect(next).toEqual(['boom'])
    expect(JSON.parse(tasks[0]!.error!)).toMatchObject({ name: 'TypeError', message: 'bad' })
  })
})

describe('the state at a checkpoint', () => {
  it('equals that entry of the history, whether asked for by id or by checkpoint', async () => {
    const { threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    const history = await threads.getHistory(id) as Snapshot[]
    expect(history).toHaveLength(5)
    for (const entry of history) {
      const byId = await threads.getState(id, entry.checkpoint_id)
      expect({ ...byId, tasks: [] }).toEqual({ ...entry, tasks: [] })
      expect(await threads.getState(id, entry.checkpoint)).toEqual(byId)
    }
    expect(await threads.getState(id)).toEqual(await threads.getState(id, history[0]!.checkpoint))
  })

  it('may be asked for by a checkpoint with its subgraphs', async () => {
    const { threads } = server.client
    const id = await threadAfter('nestedask', { topic: 't' })
    const { checkpoint } = await threads.getState(id)
    const state = await threads.getState(id, checkpoint, { subgraphs: true })
    expect(state.tasks[0]!.state).toMatchObject({ next: ['deep'], values: { inner: 'prepared' } })
  })

  it('is 404 for an unknown checkpoint', async () => {
    const { threads } = server.client
    const id = await threadAfter('echo', say('hello'))
    const unknown = '1f000000-0000-6000-8000-000000000000'
    await expect(threads.getState(id, unknown)).rejects.toMatchObject({ status: 404 })
    await expect(threads.getState(randomUUID())).rejects.toMatchObject({ status: 404 })
  })
})

describe('a state update', () => {
  it('answers its checkpoint, which is then the newest of the history', async () => {
    const { threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    const before = await threads.getState(id) as Snapshot
    const answer = await threads.updateState(id, {
      values: { log: ['mine'] },
      asNode: 'a',
    }) as { checkpoint: ThreadState['checkpoint'] }
    const after = await threads.getState(id) as Snapshot
    expect(answer.checkpoint).toMatchObject({
      thread_id: id,
      checkpoint_ns: '',
      checkpoint_id: after.checkpoint_id,
    })
    expect(after).toMatchObject({
      values: { topic: 't', log: ['a:t', 'b:t', 'c:t', 'mine'] },
      next: ['b'],
      parent_checkpoint_id: before.checkpoint_id,
      metadata: { source: 'update', step: 4, writes: { a: { log: ['mine'] } } },
    })
  })

  it('shows in the thread at once: values, status, times', async () => {
    const { threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    const before = await threads.get(id)
    await nextMillisecond()
    await threads.updateState(id, { values: { topic: 'new' }, asNode: 'c' })
    const after = await threads.get(id)
    expect(after).toMatchObject({ values: { topic: 'new' }, status: 'idle' })
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
    expect(Date.parse(after.state_updated_at)).toBeGreaterThan(Date.parse(before.state_updated_at))
  })

  it('determines by asNode what runs next', async () => {
    const { runs, threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    await threads.updateState(id, { values: { topic: 'again' }, asNode: 'b' })
    expect(await runs.wait(id, 'steps', { input: null }))
      .toMatchObject({ log: ['a:t', 'b:t', 'c:t', 'c:again'] })
  })

  it('may have no values', async () => {
    const { threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    await threads.updateState(id, { values: null as never, asNode: 'c' })
    expect(await threads.getHistory(id)).toHaveLength(6)
    expect(await threads.getState(id)).toMatchObject({ values: { topic: 't' }, next: [] })
  })

  it.each(['checkpoint', 'checkpoint_id'] as const)('forks from the given %s', async (field) => {
    const { runs, threads } = server.client
    const id = await threadAfter('steps', { topic: 't' })
    const history = await threads.getHistory(id) as Snapshot[]
    const afterA = history.find(({ next }) => next[0] === 'b')!
    await threads.updateState(id, {
      values: { topic: 'fork' },
      asNode: 'a',
      ...field === 'checkpoint'
        ? { checkpoint: afterA.checkpoint }
        : { checkpointId: afterA.checkpoint_id },
    })
    expect((await threads.get(id)).values).toEqual({ topic: 'fork', log: ['a:t'] })
    expect(await threads.getState(id)).toMatchObject({
      next: ['b'],
      parent_checkpoint_id: afterA.checkpoint_id,
    })
    expect(await runs.wait(id, 'steps', { input: null }))
      .toEqual({ topic: 'fork', log: ['a:t', 'b:fork', 'c:fork'] })
    expect(await threads.getState(id, history[0]!.checkpoint_id))
      .toMatchObject({ values: { log: ['a:t', 'b:t', 'c:t'] } })
  })

  it('is refused with 409 while a run is in progress, and changes nothing', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    await expect(threads.updateState(id, { values: say('no'), asNode: 'first' }))
      .rejects.toMatchObject({ status: 409 })
    hold.open()
    await run.stream.rest()
    expect(texts(await runs.join(id, run.runId))).toEqual([run.text, 'first', 'held', 'last'])
  })

  it.each([
    ['an unknown node', { values: { topic: 'x' }, as_node: 'nosuch' }, [422]],
    ['a node that is no name', { values: { topic: 'x' }, as_node: 7 }, [422]],
    ['an unknown checkpoint', { values: { topic: 'x' }, as_node: 'a',
      checkpoint_id: '1f000000-0000-6000-8000-000000000000' }, [404, 422]],
  ])('is refused for %s', async (_, body, statuses) => {
    const id = await threadAfter('steps', { topic: 't' })
    const answer = await ask(server.url, 'POST', `/threads/${id}/state`, body)
    expect(answer.status).toBeOneOf(statuses)
    expect(await server.client.threads.getHistory(id)).toHaveLength(5)
  })
})

describe('state that JSON alone cannot hold', () => {
  it('is a Date and a Map again for the next node and the next run', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'rich', { input: {} })
    const values = await runs.wait(id, 'rich', { input: {} })
    expect(values).toMatchObject({
      when: '1970-01-01T00:00:00.000Z',
      seen: ['before: nothing', '0 1', 'before: true true', '0 1'],
    })
    expect((await threads.get(id)).values).toEqual(values)
    expect((await threads.getState(id)).values).toEqual(values)
  })
})

const pathAfter = async (graphId: string, input: Record<string, unknown>) =>
  `/threads/${await threadAfter(graphId, input)}`
const read = async (path: string) => (await ask(server.url, 'GET', path)).body
const post = async (path: string, body: object) => (await ask(server.url, 'POST', path, body)).body

/** As official clients from 1.13 on send it. */
describe('of a state', () => {
  it('only the fields and the values that are named are sent', async () => {
    const thread = await pathAfter('steps', { topic: 't' })
    const { checkpoint, created_at } = await read(`${thread}/state`) as {
      checkpoint: { checkpoint_id: string }
      created_at: string
    }
    const { checkpoint_id: id } = checkpoint
    expect(await read(`${thread}/state?select=next&select=values.topic`))
      .toEqual({ values: { topic: 't' }, next: [] })
    expect(await read(`${thread}/state/${id}?select=values.log`))
      .toEqual({ values: { log: ['a:t', 'b:t', 'c:t'] } })
    expect(await post(`${thread}/state/checkpoint`, { checkpoint, select: ['created_at'] }))
      .toEqual({ created_at })
    expect(await read(`${thread}/state?select=values`))
      .toEqual({ values: { topic: 't', log: ['a:t', 'b:t', 'c:t'] } })
  })

  it('no list, or an empty one, means everything', async () => {
    const thread = await pathAfter('echo', say('hello'))
    const { checkpoint } = await read(`${thread}/state`) as { checkpoint: object }
    expect(await post(`${thread}/state/checkpoint`, { checkpoint, select: [] }))
      .toEqual(await read(`${thread}/state`))
  })

  it('what waits for an answer is sent by itself, also where the graph alone knows the values',
    async () => {
      const thread = await pathAfter('ask', { question: 'q' })
      expect(await read(`${thread}/state?select=interrupts`))
        .toEqual({ interrupts: [{ id: expect.any(String), value: { question: 'q' } }] })
      const nested = await pathAfter('nestedask', { topic: 't' })
      const { tasks: [{ checkpoint }] } = await read(`${nested}/state`) as {
        tasks: [{ checkpoint: object }]
      }
      const asked = { checkpoint, select: ['next', 'values.inner'] }
      expect(await post(`${nested}/state/checkpoint`, asked))
        .toEqual({ values: { inner: 'prepared' }, next: ['deep'] })
    })

  it('keys are found in a value that stands for the whole state', async () => {
    const thread = await pathAfter('functional', { number: 1 })
    await post(`${thread}/runs/wait`, { assistant_id: 'functional', command: { resume: 'yes' } })
    expect(await read(`${thread}/state?select=values.sure`)).toEqual({ values: { sure: 'yes' } })
  })

  it('that is new, the same fields are empty', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const fields = 'select=values.topic&select=checkpoint&select=interrupts'
    expect(await read(`/threads/${id}/state?${fields}`))
      .toEqual({ values: {}, checkpoint: null, interrupts: [] })
  })

  it('what is no part is named, with what may be', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const answer = await ask(server.url, 'GET', `/threads/${id}/state?select=next&select=value`)
    expect(answer.status).toBe(422)
    expect(messageOf(answer)).toMatch(/^select\.1: must be .*values\.messages/)
  })
})

describe('of a history', () => {
  it('each state is sent as it is selected', async () => {
    const thread = await pathAfter('steps', { topic: 't' })
    const asked = { limit: 3, select: ['next', 'values.log'] }
    const states = [
      { values: { log: ['a:t', 'b:t', 'c:t'] }, next: [] },
      { values: { log: ['a:t', 'b:t'] }, next: ['c'] },
      { values: { log: ['a:t'] }, next: ['b'] },
    ]
    expect(await post(`${thread}/history`, asked)).toEqual(states)
    expect(await read(`${thread}/history?limit=3&select=next,values.log`)).toEqual(states)
    expect(await post(`${thread}/history`, { limit: 2, select: ['next'] }))
      .toEqual([{ next: [] }, { next: ['c'] }])
  })
})
