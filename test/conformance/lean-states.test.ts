/** Lean parts of states: members of the metadata, tasks without results, sizes, parts of lists. */

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectAlways } from '../support/expect-always.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()

interface State {
  readonly values: Record<string, unknown>
  readonly metadata: Record<string, unknown>
  readonly tasks: readonly Record<string, unknown>[]
  readonly next: readonly string[]
  readonly created_at: string
  readonly checkpoint: { readonly checkpoint_id: string }
  readonly checkpoint_id: string
  readonly parent_checkpoint_id: string | null
  readonly channels: Record<string, number>
  readonly slices: Record<string, unknown>
}

const read = async (path: string) => (await ask(server.url, 'GET', path)).body as State

const historyOf = async (id: string, body: object) =>
  (await ask(server.url, 'POST', `/threads/${id}/history`, { limit: 1_000, ...body }))
    .body as State[]

async function threadAfter(graphId: string, ...turns: readonly object[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  for (const turn of turns) {
    await ask(server.url, 'POST', `/threads/${id}/runs/wait`, { assistant_id: graphId, ...turn })
  }
  return id
}

const lean = ['checkpoint_id', 'parent_checkpoint_id', 'metadata.step', 'metadata.source',
  'metadata.run_id', 'tasks.lean', 'next', 'created_at']

function leanOf({ checkpoint_id, parent_checkpoint_id, metadata, tasks, next, created_at }: State) {
  const { step, source, run_id } = metadata
  return {
    checkpoint_id,
    parent_checkpoint_id,
    metadata: { step, source, ...run_id !== undefined && { run_id } },
    tasks: tasks.map(({ id, name, error, interrupts, path }) => ({ id, name, error, interrupts,
      path })
    ),
    next,
    created_at,
  }
}

const input = (values: object) => ({ input: values })

/** What each thread has been through: its graph, and its turns. */
const stories: Record<string, [string, ...object[]]> = {
  'a chat': ['echo', input(say('one')), input(say('two')), input(say('three'))],
  'a graph with reducers': ['steps', input({ topic: 'x' }), input({ topic: 'y' })],
  'a fan': ['fanout', input({ words: ['a', 'b', 'c'] })],
  'a question': ['ask', input({ question: 'q' })],
  'an answer': ['ask', input({ question: 'q' }), { command: { resume: 'a' } }],
  'an answer with an update': ['ask', input({ question: 'q' }), {
    command: { resume: 'a', update: { answers: ['more'] } },
  }],
  'two questions': ['askboth', input({ question: 'q' })],
  'a question beside a finished task': ['askone', input({ question: 'q' })],
  'a jump by the caller': ['steps', input({ topic: 'x' }), {
    command: { goto: 'b', update: { log: ['jumped'] } },
  }],
  'a failure': ['failing', input({ topic: 'no' })],
  'a breakpoint': ['paused', input({ topic: 'x' })],
  'a subgraph that asks': ['nestedask', input({ topic: 'x' })],
  'a state of deltas': ['delta', input(say('one')), input(say('two'))],
  'a function': ['functional', input({ number: 1 })],
  'a factory': ['factory', input({ topic: 'x' })],
  'a state saved at the end': ['steps', { ...input({ topic: 'x' }), durability: 'exit' }],
  'values of every kind': ['rich', input({})],
}

describe.each(Object.entries(stories))('after %s', (_, [graphId, ...turns]) => {
  let id = ''
  let all: State[] = []

  beforeAll(async () => {
    id = await threadAfter(graphId, ...turns)
    all = await historyOf(id, {})
  })

  it('a lean history is what the whole one says', async () => {
    expect(all.length).toBeGreaterThan(0)
    expect(await historyOf(id, { select: lean })).toEqual(all.map(leanOf))
  })

  it('values are the same beside lean parts as without a selection', async () => {
    expect(await historyOf(id, { select: ['values', 'metadata.step'] }))
      .toEqual(all.map(({ values, metadata: { step } }) => ({ values, metadata: { step } })))
    const [whole, selected] = [await read(`/threads/${id}/state`),
      await read(`/threads/${id}/state?select=values&select=tasks.lean`)]
    expect(selected).toEqual({ values: whole.values, tasks: leanOf(whole).tasks })
  })

  it('tasks and metadata that are selected as a whole have what was written', async () => {
    expect(await historyOf(id, { select: ['tasks', 'metadata'] }))
      .toEqual(all.map(({ tasks, metadata }) => ({ tasks, metadata })))
    expect(await historyOf(id, { select: ['metadata.writes'] }))
      .toEqual(all.map(({ metadata: { writes } }) => ({ metadata: { writes } })))
  })

  it('what is selected whole wins over its lean part', async () => {
    const [{ tasks, metadata }] = all as [State]
    expect(
      await historyOf(id, { limit: 1,
        select: ['tasks', 'tasks.lean', 'metadata', 'metadata.step'] }),
    ).toEqual([{ tasks, metadata }])
  })
})

describe('the channels of a step', () => {
  it('are those that it wrote, with the size of that', async () => {
    const id = await threadAfter('steps', input({ topic: 'x' }), input({ topic: 'yy' }))
    const sizes = (await historyOf(id, { select: ['channels'] })).map(({ channels }) => channels)
    expect(sizes.map((each) => Object.keys(each).sort())).toEqual([
      ['log'],
      ['log'],
      ['log'],
      ['topic'],
      ['__start__'],
      ['log'],
      ['log'],
      ['log'],
      ['topic'],
      expect.arrayContaining(['__start__']),
    ])
    for (const each of sizes) {
      for (const bytes of Object.values(each)) expect(bytes).toBeLessThan(40)
    }
  })

  it('are few also where the log states a whole state', async () => {
    const { thread_id: id } = await server.client.threads.create({ graphId: 'steps' })
    for (let turn = 0; turn < 8; turn++) {
      const topic = `${turn}${'x'.repeat(6_000)}`
      await server.client.runs.wait(id, 'steps', { input: { topic } })
    }
    const select = ['channels', 'metadata.source', 'next']
    const steps = await historyOf(id, { select })
    const ids = (await historyOf(id, { select: lean })).map((step) => step.checkpoint_id)
    const ofTasks = steps.filter(({ metadata: { source } }) => source === 'loop')
    for (const { channels } of ofTasks) {
      expect(Object.keys(channels)).toHaveLength(1)
      expect(Object.values(channels)[0]).toBeLessThan(6_100)
    }
    for (const [at, step] of steps.entries()) {
      const before = at === 0 ? undefined : ids[at - 1]
      expect(await historyOf(id, { limit: 1, before, select })).toEqual([step])
    }
  })

  it('are none for a thread without a state', async () => {
    const { thread_id: id } = await server.client.threads.create()
    expect(await read(`/threads/${id}/state?select=channels&select=tasks.lean`))
      .toEqual({ channels: {}, tasks: [] })
  })
})

describe('a part of a list', () => {
  const elements = Array.from({ length: 12 }, (_, place) => `line ${place}`)
  let id = ''

  beforeAll(async () => {
    id = (await server.client.threads.create({ graphId: 'steps' })).thread_id
    await server.client.threads.updateState(id, { values: { topic: 't', log: elements } })
  })

  const slicePath = (slice: string) =>
    `/threads/${id}/state?select=${encodeURIComponent(`values.log${slice}`)}`

  it.each([
    ['[-5:]', 7, 12],
    ['[:3]', 0, 3],
    ['[2:4]', 2, 4],
    ['[-3:-1]', 9, 11],
    ['[:]', 0, 12],
    ['[-50:]', 0, 12],
    ['[20:]', 12, 12],
    ['[6:2]', 6, 6],
  ])('%s has these, and says where they begin', async (slice, from, to) => {
    const expected = { values: { log: elements.slice(from, to) },
      slices: { log: { from, total: 12 } } }
    expect(await read(slicePath(slice))).toEqual(expected)
    expect((await historyOf(id, { select: [`values.log${slice}`] }))[0]).toEqual(expected)
  })

  it('is left out of slices if the value is no list, or is not there', async () => {
    const select = 'select=values.topic[-1:]&select=values.nothing[-1:]'
    expect(await read(`/threads/${id}/state?${select}`)).toEqual({ values: { topic: 't' } })
  })

  it('stands beside whole values, and wins over its own list', async () => {
    expect(await read(`${slicePath('[-1:]')}&select=values`)).toEqual({
      values: { topic: 't', log: ['line 11'] },
      slices: { log: { from: 11, total: 12 } },
    })
  })

  it.each(['delta', 'counted'])('is cut also where the graph %s makes the state', async (graph) => {
    const chat = await threadAfter(graph, input(say('one')), input(say('two')))
    const { values: { messages } } = await read(`/threads/${chat}/state`)
    const list = messages as readonly unknown[]
    expect(await read(`/threads/${chat}/state?select=values.messages[-1:]`)).toEqual({
      values: { messages: list.slice(-1) },
      slices: { messages: { from: list.length - 1, total: list.length } },
    })
  })

  it('is cut while finished tasks add to the list', async () => {
    const asking = await threadAfter('askone', input({ question: 'q' }))
    expect(await read(`/threads/${asking}/state?select=values.answers[-1:]`)).toEqual({
      values: { answers: ['told'] },
      slices: { answers: { from: 0, total: 1 } },
    })
  })

  it('that is no slice is a key like others', () =>
    expectAlways(
      fc.asyncProperty(fc.string({ maxLength: 12 }), async (key) => {
        const path = `/threads/${id}/state/checkpoint`
        const answer = await ask(server.url, 'POST', path, { checkpoint: {},
          select: [`values.${key}`] })
        if (answer.status === 200) return
        expect([answer.status, key.trim() === '' || /[\n\r]/.test(key)]).toEqual([422, true])
        expect(messageOf(answer)).toContain('must be a field of the state')
      }),
    ))
})
