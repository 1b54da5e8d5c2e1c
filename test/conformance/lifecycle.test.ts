/** The stream mode `lifecycle`, streams of some namespaces, and joins behind a checkpoint. */

import { describe, expect, it } from 'vitest'

import { collect, dataOf } from '../support/run-events.ts'
import type { Part } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

const newThread = async () => (await server.client.threads.create()).thread_id

/** The parts of a stream over plain HTTP: earlier clients do not know of these queries. */
async function stream(path: string, body?: object, headers?: Record<string, string>) {
  const answer = await ask(server.url, body ? 'POST' : 'GET', path, body, headers)
  expect(answer.status).toBe(200)
  return (answer.body as string).trim().split('\n\n').map((frame): Part => {
    const [event, data, id] = frame.split('\n').map((line) => line.replace(/^\w+: /, ''))
    return { event: event!, data: JSON.parse(data!), id: id! }
  })
}

const streamed = async (graph: string, modes: string[], more: object = {}, id?: string) =>
  collect(server.client.runs.stream(id ?? await newThread(), graph, {
    input: { topic: 't' },
    streamMode: modes as ['values'],
    ...more,
  }))

const inside = /^(\w+)\|sub:[0-9a-f-]{36}$/
const shapeOf = (parts: readonly Part[]) =>
  parts.slice(1).map((
    { event, data },
  ) => [event.replace(inside, '$1 inside'), (data as { event?: string }).event])

describe('the stream mode `lifecycle`', () => {
  it('tells of a subgraph when it starts and when it ends, also without its events', async () => {
    const parts = await streamed('nested', ['lifecycle'])
    expect(shapeOf(parts)).toEqual([['lifecycle inside', 'started'], ['lifecycle inside',
      'completed']])
    const [, { event, data }] = parts as [Part, Part]
    expect(data).toEqual({ event: 'started', namespace: [event.slice('lifecycle|'.length)] })
  })

  it('stands beside the events of other modes, of which the root gets its own only', async () => {
    const parts = await streamed('nested', ['updates', 'values', 'custom', 'lifecycle'])
    const others = parts.filter(({ event }) => !event.startsWith('lifecycle'))
    const plain = await streamed('nested', ['updates', 'values', 'custom'])
    const shown = (all: readonly Part[]) => all.slice(1).map(({ event, data }) => ({ event, data }))
    expect(shown(others)).toEqual(shown(plain))
    expect(dataOf(parts, 'tasks')).toEqual([])
  })

  it('stands among the events of the subgraph if these are asked for', async () => {
    const parts = await streamed('nested', ['updates', 'lifecycle'], { streamSubgraphs: true })
    expect(shapeOf(parts).map(([event]) => event)).toEqual(['updates', 'lifecycle inside',
      'updates inside', 'updates', 'lifecycle inside'])
  })

  it('says that a subgraph waits, and that it starts again with the answer', async () => {
    const id = await newThread()
    const parts = await streamed('nestedask', ['lifecycle'], {}, id)
    expect(shapeOf(parts)).toEqual([['lifecycle inside', 'started'], ['lifecycle inside',
      'interrupted']])
    const again = await streamed('nestedask', ['lifecycle'], { input: null,
      command: { resume: 'yes' } }, id)
    expect(shapeOf(again)).toEqual([['lifecycle inside', 'started'], ['lifecycle inside',
      'completed']])
  })

  it('may be the only one that a join asks for', async () => {
    const id = await newThread()
    const parts = await streamed('nested', ['updates', 'lifecycle'], {}, id)
    const { run_id: runId } = parts[0]!.data as { run_id: string }
    const joined = await stream(`/threads/${id}/runs/${runId}/stream?stream_mode=lifecycle`)
    expect(shapeOf(joined).map(([event]) => event))
      .toEqual(['lifecycle inside', 'lifecycle inside', 'end'])
  })
})

describe('the stream mode `tasks-lean`', () => {
  it('says that a task failed which threw, and the state says where', async () => {
    const id = await newThread()
    const { thread_id: exit } = await server.client.threads.create()
    for (const [thread, durability] of [[id, 'async'], [exit, 'exit']]) {
      const parts = await streamed('failing', ['tasks-lean'], { durability }, thread)
      expect(dataOf(parts, 'tasks-lean').map((data) => Object(data) as object)).toMatchObject([
        { event: 'started', name: 'a' },
        { event: 'completed', name: 'a' },
        { event: 'started', name: 'boom' },
        { event: 'failed', name: 'boom' },
      ])
    }
    const { tasks: [task] } = await server.client.threads.getState(id)
    const { name, message, stack } = JSON.parse(task!.error!) as Record<string, string>
    expect([name, message]).toEqual(['TypeError', 't'])
    expect(stack).toMatch(/^at .*\(?steps\.ts:\d+:\d+\)?/)
  })
})

describe('a stream of some namespaces', () => {
  const body = { assistant_id: 'nested', input: { topic: 't' }, stream_mode: ['updates'],
    stream_subgraphs: true }

  it('is offered', async () => {
    expect((await ask(server.url, 'GET', '/info')).body)
      .toMatchObject({ flags: { stream_namespaces: true } })
  })

  it('has the root with its subgraphs, or one subgraph alone', async () => {
    const id = await newThread()
    const whole = await stream(`/threads/${id}/runs/stream?namespace=`, body)
    const names = ['metadata', 'updates', 'updates inside', 'updates', 'end']
    const namesOf = (parts: readonly Part[]) =>
      parts.map(({ event }) => event.replace(inside, '$1 inside'))
    expect(namesOf(whole)).toEqual(names)
    const { run_id: runId } = whole[0]!.data as { run_id: string }
    const [, namespace] = whole[2]!.event.split('|')
    const join = (query: string) => stream(`/threads/${id}/runs/${runId}/stream?${query}`)
    expect(namesOf(await join(`namespace=${namespace}`)))
      .toEqual(['metadata', 'updates inside', 'end'])
    expect(namesOf(await join('namespace=nowhere'))).toEqual(['metadata', 'end'])
    expect(namesOf(await join(`namespace=&namespace=${namespace}`))).toEqual(names)
    expect(namesOf(await join('namespace=nowhere&stream_mode='))).toEqual(['metadata', 'end'])
  })

  it('is refused for too many of them', async () => {
    const query = Array.from({ length: 101 }, () => 'namespace=a').join('&')
    expect(await ask(server.url, 'POST', `/runs/stream?${query}`, body))
      .toMatchObject({ status: 422 })
  })
})

describe('a join behind a checkpoint', () => {
  it('begins there, unless an event is named or the run has no such checkpoint', async () => {
    const id = await newThread()
    const parts = await stream(`/threads/${id}/runs/stream`, { assistant_id: 'steps', input: {},
      stream_mode: ['updates', 'values'] })
    const { run_id: runId } = parts[0]!.data as { run_id: string }
    const history = await server.client.threads.getHistory(id)
    expect(history.length).toBeGreaterThan(2)
    const join = (query: string, last?: string) =>
      stream(`/threads/${id}/runs/${runId}/stream?${query}`, undefined,
        last === undefined ? undefined : { 'last-event-id': last })
    const rests = await Promise.all(
      history.map(({ checkpoint }) => join(`checkpoint_id=${checkpoint.checkpoint_id}`, '-1')),
    )
    for (const [at, rest] of rests.entries()) {
      expect(rest).toEqual(parts.slice(-rest.length))
      const newer = rest.filter(({ event }) => event === 'values').length
      // The first two checkpoints have the same state.
      expect(newer).toBe(Math.min(at, history.length - 2))
    }
    expect(rests[0]).toEqual([parts.at(-1)])
    const newest = `checkpoint_id=${history[0]!.checkpoint.checkpoint_id}`
    expect(await join(newest, parts[0]!.id)).toEqual(parts.slice(1))
    expect(await join('checkpoint_id=')).toEqual(parts)
    expect(await join('checkpoint_id=1ef00000-0000-6000-8000-000000000000')).toEqual(parts)
    const next = await stream(`/threads/${id}/runs/stream`, { assistant_id: 'steps', input: {} })
    const other = (next[0]!.data as { run_id: string }).run_id
    expect(await stream(`/threads/${id}/runs/${other}/stream?${newest}`)).toEqual(next)
  })
})

describe('the stream mode `tasks-lean`', () => {
  it('tells of each task when it starts and when it ends, never of its values', async () => {
    const parts = await streamed('nested', ['tasks-lean'], { streamSubgraphs: true })
    const shape = parts.slice(1).map(({ event, data }) => {
      const { name, event: what, ...rest } = data as Record<string, unknown>
      return [event.replace(/:[0-9a-f-]{36}$/, ''), name, what, Object.keys(rest)]
    })
    expect(shape).toEqual([
      ['tasks-lean', 'outer', 'started', ['id']],
      ['tasks-lean', 'outer', 'completed', ['id']],
      ['tasks-lean', 'sub', 'started', ['id']],
      ['tasks-lean|sub', 'deep', 'started', ['id']],
      ['tasks-lean|sub', 'deep', 'completed', ['id']],
      ['tasks-lean', 'sub', 'completed', ['id']],
    ])
  })

  it('says what waits, and what failed', async () => {
    const waiting = await streamed('ask', ['tasks-lean'], { input: { question: 'q' } })
    expect(dataOf(waiting, 'tasks-lean').map(({ event }) => event))
      .toEqual(['started', 'interrupted'])
    const failing = await streamed('failing', ['tasks-lean'])
    expect(dataOf(failing, 'tasks-lean').at(-1)).toMatchObject({ name: 'boom' })
  })
})
