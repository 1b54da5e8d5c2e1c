/** Waiting for a human: interrupts, breakpoints, and the commands that resume. */

import { describe, expect, it } from 'vitest'
import { collect, dataOf } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()

const newThread = async () => (await server.client.threads.create()).thread_id

interface Interrupted {
  readonly __interrupt__: { id: string; value: unknown }[]
}

async function waitFor(id: string, graphId: string, payload: object) {
  return await server.client.runs.wait(id, graphId, payload) as Record<string, unknown>
}

describe('an interrupt', () => {
  it('ends the run with success and leaves the thread interrupted', async () => {
    const id = await newThread()
    const values = await waitFor(id, 'ask', { input: { question: 'ready?' } })
    expect(values).toMatchObject({
      __interrupt__: [{ id: expect.any(String), value: { question: 'ready?' } }],
    })
    const [run] = await server.client.runs.list(id)
    expect(run).toMatchObject({ status: 'success' })
    const thread = await server.client.threads.get(id)
    const { tasks } = await server.client.threads.getState(id)
    expect(thread).toMatchObject({ status: 'interrupted', values: { question: 'ready?' } })
    expect(thread.interrupts).toEqual({
      [tasks[0]!.id]: [expect.objectContaining({ value: { question: 'ready?' } })],
    })
  })

  it('is streamed in updates and in values', async () => {
    const id = await newThread()
    const parts = await collect(server.client.runs.stream(id, 'ask', {
      input: { question: 'q' },
      streamMode: ['updates', 'values'],
    }))
    const waiting = {
      __interrupt__: [{ id: expect.any(String) as string, value: { question: 'q' } }],
    }
    expect(dataOf(parts, 'updates')).toEqual([waiting])
    expect(dataOf(parts, 'values')).toEqual([{ question: 'q', answers: [] }, waiting])
  })

  it('is answered by a command, and the thread is idle again', async () => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    expect(await waitFor(id, 'ask', { command: { resume: 'yes' } }))
      .toEqual({ question: 'q', answers: ['yes', 'after'] })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle', interrupts: {} })
  })

  it.each([false, 0, '', { deep: [1, null] }])('may be answered with %j', async (resume) => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    expect(await waitFor(id, 'ask', { command: { resume } }))
      .toMatchObject({ answers: [resume, 'after'] })
  })

  it('may be answered by its id', async () => {
    const id = await newThread()
    const { __interrupt__: [asked] } = await waitFor(id, 'ask', {
      input: { question: 'q' },
    }) as unknown as Interrupted
    expect(await waitFor(id, 'ask', { command: { resume: { [asked!.id]: false } } }))
      .toMatchObject({ answers: [false, 'after'] })
  })

  it.each(['async', 'exit'] as const)(
    'that comes twice in one node asks twice in sequence, with durability %s',
    async (kept) => {
      const id = await newThread()
      const turn = (payload: object) => waitFor(id, 'asktwice', { ...payload, durability: kept })
      expect(await turn({ input: { question: 'q' } }))
        .toMatchObject({ __interrupt__: [{ value: 'first?' }] })
      expect(await turn({ command: { resume: 'one' } }))
        .toMatchObject({ __interrupt__: [{ value: 'second?' }] })
      expect(await server.client.threads.getState(id)).toMatchObject({ values: { question: 'q' } })
      expect(await turn({ command: { resume: 'two' } }))
        .toEqual({ question: 'q', answers: ['one', 'two'] })
    },
  )

  it('survives other reads and a state update of something else', async () => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    await server.client.threads.update(id, { metadata: { seen: true } })
    await server.client.threads.getHistory(id)
    expect(await waitFor(id, 'ask', { command: { resume: 'yes' } }))
      .toMatchObject({ answers: ['yes', 'after'] })
  })
})

describe('two interrupts at once', () => {
  const both = async () => {
    const id = await newThread()
    const { __interrupt__: asked } = await waitFor(id, 'askboth', {
      input: { question: 'q' },
    }) as unknown as Interrupted
    return { id, asked }
  }

  it('are both shown by wait, by the stream and by the thread', async () => {
    const { id, asked } = await both()
    expect(asked.map(({ value }) => value).sort()).toEqual(['left?', 'right?'])
    const { interrupts } = await server.client.threads.get(id)
    expect(Object.values(interrupts).flat().map(({ value }) => value).sort())
      .toEqual(['left?', 'right?'])
    const other = await newThread()
    const parts = await collect(server.client.runs.stream(other, 'askboth', {
      input: { question: 'q' },
      streamMode: ['updates'],
    }))
    expect(
      dataOf<Interrupted>(parts, 'updates').flatMap((part) =>
        part.__interrupt__.map(({ value }) => value)
      ).sort(),
    ).toEqual(['left?', 'right?'])
  })

  it('are answered together by id', async () => {
    const { id, asked } = await both()
    const resume = Object.fromEntries(asked.map((one) => [one.id, `re ${String(one.value)}`]))
    expect(await waitFor(id, 'askboth', { command: { resume } }))
      .toMatchObject({ answers: ['left re left?', 'right re right?'] })
  })

  it('may be answered one after the other', async () => {
    const { id, asked } = await both()
    const left = asked.find(({ value }) => value === 'left?')!
    const half = await waitFor(id, 'askboth', { command: { resume: { [left.id]: 'l' } } })
    expect(half).toMatchObject({ __interrupt__: [{ value: 'right?' }] })
    const right = asked.find(({ value }) => value === 'right?')!
    expect(await waitFor(id, 'askboth', { command: { resume: { [right.id]: 'r' } } }))
      .toMatchObject({ answers: ['left l', 'right r'] })
  })
})

describe('a breakpoint', () => {
  it.each([
    ['before', { interruptBefore: ['b'] }, ['a:t'], 'b'],
    ['after', { interruptAfter: ['b'] }, ['a:t', 'b:t'], 'c'],
    ['before any node', { interruptBefore: '*' }, [], 'a'],
  ])('%s stops there, and a run without input continues', async (_, where, log, next) => {
    const id = await newThread()
    const stopped = await waitFor(id, 'steps', { input: { topic: 't' }, ...where })
    expect(stopped).toMatchObject({ __interrupt__: [] })
    expect(await server.client.threads.get(id))
      .toMatchObject({ status: 'interrupted', values: { log } })
    expect(await server.client.threads.getState(id)).toMatchObject({ next: [next] })
    expect(await waitFor(id, 'steps', { input: null }))
      .toEqual({ topic: 't', log: ['a:t', 'b:t', 'c:t'] })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('that was compiled into the graph holds', async () => {
    const id = await newThread()
    await waitFor(id, 'paused', { input: { topic: 't' } })
    expect(await server.client.threads.getState(id)).toMatchObject({ next: ['b'] })
    expect(await waitFor(id, 'paused', { input: null })).toMatchObject({
      log: ['a:t', 'b:t', 'c:t'],
    })
  })

  it('lets the state be changed before it continues', async () => {
    const id = await newThread()
    await waitFor(id, 'steps', { input: { topic: 't' }, interruptBefore: ['b'] })
    await server.client.threads.updateState(id, { values: { topic: 'new' } })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'interrupted' })
    expect(await waitFor(id, 'steps', { input: null }))
      .toEqual({ topic: 'new', log: ['a:t', 'b:new', 'c:new'] })
  })
})

describe('a command', () => {
  it('may update the state while it resumes', async () => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    expect(await waitFor(id, 'ask', { command: { resume: 'yes', update: { question: 'q2' } } }))
      .toMatchObject({ question: 'q2', answers: expect.arrayContaining(['yes', 'after']) })
  })

  it('may go to a node', async () => {
    const id = await newThread()
    await waitFor(id, 'steps', { input: { topic: 't' } })
    expect(await waitFor(id, 'steps', { command: { goto: 'c', update: { topic: 'u' } } }))
      .toEqual({ topic: 'u', log: ['a:t', 'b:t', 'c:t', 'c:u'] })
  })

  it('may send input to nodes', async () => {
    const id = await newThread()
    await waitFor(id, 'fanout', { input: { words: ['a'] } })
    const values = await waitFor(id, 'fanout', { command: { goto: [
      { node: 'shout', input: { word: 'b' } },
      { node: 'shout', input: { word: 'c' } },
    ] } })
    expect(values).toMatchObject({ loud: ['A', 'B', 'C'] })
  })

  it('may give its update as pairs of name and value', async () => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    expect(await waitFor(id, 'ask', { command: {
      resume: 'yes',
      update: [['answers', ['one']], ['answers', ['two']]],
    } }))
      .toMatchObject({ answers: expect.arrayContaining(['one', 'two', 'yes', 'after']) })
  })
})

describe('an interrupt beside a task that finished', () => {
  const seen = { answers: ['told'], __interrupt__: [{ value: 'which?' }] }

  it('leaves what that task wrote in the result, also for later readers', async () => {
    const id = await newThread()
    expect(await waitFor(id, 'askone', { input: {} })).toMatchObject(seen)
    const [run] = await server.client.runs.list(id)
    expect(await server.client.runs.join(id, run!.run_id)).toMatchObject(seen)
    expect(await server.client.threads.getState(id))
      .toMatchObject({ values: { answers: ['told'] } })
  })

  it('may be the last one left of several, and answered with false', async () => {
    const id = await newThread()
    const { __interrupt__: asked } = await waitFor(id, 'askboth', {
      input: {},
    }) as unknown as Interrupted
    const left = asked.find(({ value }) => value === 'left?')!
    await waitFor(id, 'askboth', { command: { resume: { [left.id]: 'yes' } } })
    expect(await waitFor(id, 'askboth', { command: { resume: false } }))
      .toMatchObject({ answers: ['left yes', 'right false'] })
  })

  it('takes false as any other answer when the run begins from its checkpoint', async () => {
    const id = await newThread()
    await waitFor(id, 'ask', { input: { question: 'q' } })
    const { checkpoint_id: asking } = (await server.client.threads.getState(id)).checkpoint
    await waitFor(id, 'ask', { command: { resume: 'yes' } })
    const forked = (resume: unknown) =>
      waitFor(id, 'ask', { command: { resume }, checkpointId: asking })
    expect(await forked(false)).toEqual(await forked('no'))
  })
})
