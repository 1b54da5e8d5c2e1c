/** Interrupts that say what their answer must be, as LangGraph.js has them from 1.7 on. */

import { describe, expect, it } from 'vitest'

import { collect, dataOf } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const isNewest = process.env['HEDDLE_TEST_ENGINE'] === 'newest'

interface Asked {
  readonly id: string
  readonly value: unknown
  readonly response_schema?: unknown
}

/** A thread that waits for the first answer, its events, and the interrupt. */
async function asking() {
  const { thread_id: id } = await server.client.threads.create()
  const parts = await collect(server.client.runs.stream(id, 'form', {
    input: { question: 'q' },
    streamMode: ['values', 'updates', 'tasks', 'checkpoints', 'debug'],
  }))
  const [asked] = dataOf<{ __interrupt__: [Asked] }>(parts, 'updates').at(-1)!.__interrupt__
  return { id, parts, asked }
}

async function answer(id: string, resume: unknown) {
  const body = { assistant_id: 'form', command: { resume }, strict_resume: true }
  return (await ask(server.url, 'POST', `/threads/${id}/runs/wait`, body)).body as {
    __interrupt__?: [Asked]
    __error__?: object
  }
}

/** The interrupts that wait, as the state, the history and the thread show them. */
async function waiting(id: string): Promise<Asked[][]> {
  const { threads } = server.client
  const [{ tasks }, [newest], { interrupts }] = await Promise.all([threads.getState(id),
    threads.getHistory(id), threads.get(id)])
  return [tasks.flatMap((task) => task.interrupts),
    newest!.tasks.flatMap((task) => task.interrupts), Object.values(interrupts).flat()] as Asked[][]
}

describe.runIf(isNewest)('an interrupt with a form', () => {
  it('shows it in streams, results, state, history and thread', async () => {
    const { id, parts, asked } = await asking()
    expect(asked).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/), value: 'how many?',
      response_schema: expect.objectContaining({ type: 'integer' }) })
    expect(dataOf(parts, 'values').at(-1)).toEqual({ __interrupt__: [asked] })
    expect(dataOf<{ interrupts: unknown[] }>(parts, 'tasks').at(-1)!.interrupts).toEqual([asked])
    expect(await waiting(id)).toEqual([[asked], [asked], [asked]])
    const [run] = await server.client.runs.list(id)
    expect(await server.client.runs.join(id, run!.run_id)).toMatchObject({ __interrupt__: [asked] })
  })

  it('fails a run whose answer does not fit it, and can be answered again', async () => {
    const { id, asked } = await asking()
    expect(await answer(id, { [asked.id]: 'many' })).toHaveProperty('__error__')
    expect(await waiting(id)).toEqual([[asked], [asked], [asked]])
    expect(await answer(id, { [asked.id]: 3 })).toMatchObject({ __interrupt__: [{
      value: 'which?',
      response_schema: { type: 'string', maxLength: 8 },
    }] })
  })

  it('has an id of its own for each question of a task', async () => {
    const { id, asked } = await asking()
    const { __interrupt__: [second] = [] } = await answer(id, { [asked.id]: 3 })
    expect(second!.id).not.toBe(asked.id)
    expect(await answer(id, { [asked.id]: 4 })).toEqual({ __error__: {
      error: 'UnknownInterruptError',
      message: expect.any(String),
      reason: 'not_pending',
      interrupt_ids: [asked.id],
      pending_ids: [second!.id],
    } })
    expect(await waiting(id)).toEqual([[second], [second], [second]])
    expect(await answer(id, { [second!.id]: 'red' }))
      .toEqual({ question: 'q', answers: [3, 'red'] })
  })
})

it.skipIf(isNewest)('an interrupt of an earlier engine has no form', async () => {
  const { asked } = await asking()
  expect(asked).not.toHaveProperty('response_schema')
})
