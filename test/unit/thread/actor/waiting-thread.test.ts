/** The wait of a thread: its row shows the interrupts of its head, whatever moved the head. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { EngineHost } from '../../../support/engine-host.ts'
import { EngineThread, PointedHost, useTasks } from '../../../support/engine-thread.ts'
import { aMessage, settled, ThreadHouse } from '../../../support/thread-house.ts'

useTasks()

const message = aMessage('a')
const answer = { kwargs: { input: null, command: { resume: 'yes' } } } as const
const question = '{"task":[{"id":"i","value":"?"}]}'

const rowOf = async ({ client }: ThreadHouse) => (await client.get('t', 'x')).row

/** The current execution ends its run with an interrupt. */
async function ask(house: ThreadHouse): Promise<void> {
  await house.host.interrupt(house.host.only, 'task', 'i')
  house.host.end(house.host.only, { waiting: true, interrupts: question })
  await settled()
}

/** A thread that waits at an interrupt. */
async function asking(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  await ask(house)
  return house
}

/** The run in progress takes a message. Returns the id of the run. */
async function takeMessage(house: ThreadHouse): Promise<string> {
  const { execution: { runId } } = house.host.only
  await house.startRun('x', message)
  house.host.end(house.host.only, { status: 'drained' })
  await settled()
  await house.host.step(house.host.only, 'edit')
  house.host.end(house.host.only, { waiting: true })
  await settled()
  return runId
}

describe('a rollback of a run that took a message', () => {
  it('restores the status of an idle thread', async () => {
    const house = new ThreadHouse()
    await house.runOnce('x', 'zero')
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    const runId = await takeMessage(house)
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect(await rowOf(house)).toMatchObject({ status: 'idle', interruptsJson: '{}' })
  })

  it('restores the interrupts of a waiting thread, which can be resumed again', async () => {
    const house = await asking()
    const before = await rowOf(house)
    await house.startRun('x', answer)
    await house.host.step(house.host.only, 'two')
    const runId = await takeMessage(house)
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    const { status, interruptsJson, head } = await rowOf(house)
    expect([status, interruptsJson, head]).toEqual(['interrupted', question, before.head])
    await house.startRun('x', { ...answer, answersIfWaiting: true, kwargs: { input: 'yes' } })
    expect(house.host.only.execution.request).toMatchObject({ command: '{"resume":"yes"}' })
  })

  it('restores them after a restart', async () => {
    const house = await asking()
    await house.startRun('x', answer)
    await house.host.step(house.host.only, 'two')
    const runId = await takeMessage(house)
    house.restart()
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect(await rowOf(house)).toMatchObject({ status: 'interrupted', interruptsJson: question })
  })
})

describe('an interrupt', () => {
  it('is shown no more once its task has a result, also while the run executes', async () => {
    const house = await asking()
    await house.startRun('x', answer)
    expect(await rowOf(house)).toMatchObject({ status: 'busy', interruptsJson: question })
    await house.host.step(house.host.only, 'two')
    expect(await rowOf(house)).toMatchObject({ status: 'busy', interruptsJson: '{}' })
    await settled()
    expect(await house.tables.threads.get('t', 'x')).toMatchObject({ interruptsJson: '{}' })
  })

  it('that a task raised before the run was cancelled is shown', async () => {
    const house = new ThreadHouse()
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    await house.host.interrupt(house.host.only, 'task', 'i')
    const { runId } = house.host.only.execution
    await house.client.cancelRun('t', 'x', runId, { action: 'interrupt' })
    expect(await rowOf(house)).toMatchObject({ status: 'interrupted', interruptsJson: question })
    const copied = await house.client.copy('t', 'x')
    expect(copied.row).toMatchObject({ status: 'interrupted', interruptsJson: question })
  })
})

describe('a copy of a busy thread', () => {
  it('has no interrupt whose task has a result', async () => {
    const house = await asking()
    await house.startRun('x', answer)
    await house.host.step(house.host.only, 'two')
    const { row } = await house.client.copy('t', 'x')
    expect(row).toMatchObject({ status: 'idle', interruptsJson: '{}' })
    await house.startRun(row.threadId, { answersIfWaiting: true, kwargs: { input: 'hello' } })
    const executed = [...house.host.running.values()].map(({ execution }) => execution)
    expect(executed.find(({ threadId }) => threadId === row.threadId)!.request)
      .toMatchObject({ input: '"hello"', command: null })
  })

  it('waits where the source waited until a task has a result', async () => {
    const house = await asking()
    await house.startRun('x', answer)
    const { row } = await house.client.copy('t', 'x')
    expect(row).toMatchObject({ status: 'interrupted', interruptsJson: question })
  })
})

it('returns the unfinished runs of now with the row of a thread, also when reloaded', async () => {
  const house = new ThreadHouse()
  await house.startRun('x')
  expect((await rowOf(house)).unfinished).toHaveLength(1)
  house.restart()
  await rowOf(house)
  await settled()
  house.host.end(house.host.only)
  await settled()
  expect((await rowOf(house)).unfinished).toEqual([])
})

const State = Annotation.Root({ out: Annotation<string>() })

/** A thread whose node interrupts, and then fails or waits as the test decides. */
async function engineThread() {
  const rest = { does: (): unknown => ({}) }
  const graph = (name: string) =>
    new StateGraph(State).addNode(name, async () => {
      const out = interrupt<string, string>('Which order?')
      await rest.does()
      return { out }
    }).addEdge(START, name).compile()
  const [first, other] = [new EngineHost(graph('ask')), new EngineHost(graph('other'))]
  for (const host of [first, other]) {
    const described = { ...host.describe('agent')!, channels: ['out'] }
    host.describe = () => described
  }
  const pointed = new PointedHost(first)
  const thread = new EngineThread(() => pointed)
  await thread.run({ input: { out: '' } })
  const row = async () => (await thread.chain.client.get('t', 'x')).row
  return { rest, thread, row, rename: () => (pointed.current = other) }
}

describe('a resume that failed', () => {
  async function failed() {
    const parts = await engineThread()
    parts.rest.does = () => Promise.reject(new Error('no model'))
    expect(await parts.thread.answer('7')).toMatchObject({ status: 'error' })
    parts.rest.does = () => ({})
    return parts
  }

  it('keeps the interrupt, and the same input resumes the thread again', async () => {
    const { thread, row } = await failed()
    expect(await thread.asks()).toEqual(['Which order?'])
    expect((await row()).status).toBe('error')
    const again = await thread.start({ input: '7' }, { answersIfWaiting: true })
    expect(await thread.ended(again)).toEqual({ status: 'success', asks: [], error: '' })
    expect(await thread.values()).toEqual({ out: '7' })
  })

  it('is refused with 409 where the node was renamed, and the interrupt stays', async () => {
    const { thread, rename } = await failed()
    rename()
    await expect(thread.answer('7')).rejects.toMatchObject({ code: 'missing_node' })
    expect(await thread.asks()).toEqual(['Which order?'])
  })
})

describe('a resume that was cancelled', () => {
  it('leaves the thread interrupted, and it can be resumed again', async () => {
    const { thread, row, rest } = await engineThread()
    rest.does = () => new Promise(() => {})
    const runId = await thread.start({ command: { resume: '7' } })
    await settled()
    await thread.chain.client.cancelRun('t', 'x', runId, { action: 'interrupt' })
    expect(await thread.asks()).toEqual(['Which order?'])
    expect((await row()).status).toBe('interrupted')
    rest.does = () => ({})
    expect(await thread.answer('8')).toEqual({ status: 'success', asks: [], error: '' })
  })
})

describe('a run of which one task interrupts and another one does not end well', () => {
  /** A thread with two tasks in one superstep. The second one waits until the first has asked. */
  function twoTasks() {
    const then = { fails: (): Promise<unknown> => Promise.reject(new Error('no model')) }
    const Both = Annotation.Root({ one: Annotation<string>(), two: Annotation<string>() })
    const graph = new StateGraph(Both)
      .addNode('asks', () => ({ one: interrupt<string, string>('Which order?') }))
      .addNode('fails', async () => {
        for (let i = 0; i < 20; i++) await settled()
        await then.fails()
        return { two: 'done' }
      })
      .addEdge(START, 'asks').addEdge(START, 'fails').compile()
    const host = new EngineHost(graph)
    return { after: then, thread: new EngineThread(() => new PointedHost(host)) }
  }

  it('shows the interrupt with the error, and the thread can be resumed', async () => {
    const { thread, after } = twoTasks()
    expect(await thread.run({ input: { one: '', two: '' } })).toMatchObject({ status: 'error' })
    expect(await thread.asks()).toEqual(['Which order?'])
    after.fails = () => Promise.resolve()
    expect(await thread.answer('7')).toEqual({ status: 'success', asks: [], error: '' })
    expect(await thread.values()).toEqual({ one: '7', two: 'done' })
  })

  it('shows the interrupt after a cancel', async () => {
    const { thread, after } = twoTasks()
    after.fails = () => new Promise(() => {})
    const runId = await thread.start({ input: { one: '', two: '' } })
    while ((await thread.asks()).length === 0) await settled()
    await thread.chain.client.cancelRun('t', 'x', runId, { action: 'interrupt' })
    const { row } = await thread.chain.client.get('t', 'x')
    expect([row.status, await thread.asks()]).toEqual(['interrupted', ['Which order?']])
  })
})

describe('a resume without an interrupt id that was not used', () => {
  /** A thread whose interrupt has the value of a run in progress, and which graph it has. */
  async function resuming() {
    const State = Annotation.Root({ out: Annotation<string>() })
    let hold: () => Promise<void> = () => new Promise(() => {})
    const graph = new StateGraph(State).addNode('ask', async () => {
      const out = interrupt<string, string>('Q?')
      await hold()
      return { out }
    }).addEdge(START, 'ask').compile()
    const thread = new EngineThread(() => new PointedHost(new EngineHost(graph)))
    await thread.run({ input: { out: '' } })
    const runId = await thread.start({ command: { resume: 'secret' } })
    for (let turn = 0; turn < 100; turn++) await settled()
    return { thread, runId, release: () => (hold = () => Promise.resolve()) }
  }

  it('is not used by a run on a copy', async () => {
    const { thread, release } = await resuming()
    const copy = await thread.copy()
    expect(await copy.asks()).toEqual(['Q?'])
    release()
    await copy.run({ input: null })
    expect(await copy.values()).toEqual({ out: '' })
  })

  it('is not used by the next run after its own was cancelled', async () => {
    const { thread, runId, release } = await resuming()
    await thread.chain.client.cancelRun('t', thread.id, runId, { action: 'interrupt' })
    release()
    await thread.run({ input: null })
    expect(await thread.values()).toEqual({ out: '' })
    expect(await thread.asks()).toEqual(['Q?'])
    await thread.run({ command: { resume: 'other' } })
    expect(await thread.values()).toEqual({ out: 'other' })
  })
})
