/** Strict answers: one that fits no interrupt that waits is refused, and the thread stays. */

import { describe, expect, it } from 'vitest'

import { collectAll } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

interface Result {
  readonly __interrupt__?: { readonly id: string }[]
  readonly __error__?: object
}

/** A thread that waits, and the ids of its interrupts. */
async function asking(graph: string): Promise<{ id: string; ids: string[] }> {
  const { thread_id: id } = await server.client.threads.create()
  const result = await server.client.runs.wait(id, graph, { input: { question: 'q' } }) as Result
  return { id, ids: result.__interrupt__!.map((asked) => asked.id) }
}

function answer(id: string, graph: string, resume: unknown, how = 'wait') {
  const path = `/threads/${id}/runs${how && `/${how}`}`
  return ask(server.url, 'POST', path, { assistant_id: graph, command: { resume },
    strict_resume: true })
}

const unknown = 'f'.repeat(32)

describe('a strict answer', () => {
  it('is offered', async () => {
    const { body } = await ask(server.url, 'GET', '/info')
    expect(body).toMatchObject({ flags: { strict_resume: true } })
  })

  it('given by two tabs at once is used once', async () => {
    const { id, ids: [first] } = await asking('ask')
    const answers = await Promise.all(
      ['one', 'two'].map((text) => answer(id, 'ask', { [first!]: text })),
    )
    const results = answers.map(({ body }) => body as Result)
    const failed = results.filter(({ __error__: error }) => error)
    expect(failed).toEqual([{ __error__: expect.objectContaining({
      error: 'UnknownInterruptError',
      reason: 'not_pending',
      interrupt_ids: [first],
      pending_ids: [],
    }) }])
    const runs = await server.client.runs.list(id)
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['error', 'success', 'success'])
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle', interrupts: {} })
  })

  it('to the first question does not answer the second', async () => {
    const { id, ids: [first] } = await asking('ask')
    await answer(id, 'ask', { [first!]: 'yes' })
    await server.client.runs.wait(id, 'ask', { input: { question: 'again?' } })
    const state = await server.client.threads.getState(id)
    expect((await answer(id, 'ask', { [unknown]: 'yes' })).body)
      .toMatchObject({ __error__: { reason: 'not_pending' } })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'interrupted' })
    expect(await server.client.threads.getState(id)).toEqual(state)
  })

  it.each(
    [['one of two', (ids: string[]) => ({ [ids[0]!]: 1, [unknown]: 2 }), 'not_pending'], [
      'an empty map',
      () => ({}),
      'empty_map',
    ], ['one value', () => 'yes', 'ambiguous']] as const,
  )(
    'that is %s is refused where two wait',
    async (_, resume, reason) => {
      const { id, ids } = await asking('askboth')
      const { body } = await answer(id, 'askboth', resume([...ids]), 'stream')
      const frames = (body as string).trim().split('\n\n').map((frame) => frame.split('\n'))
      expect(frames.map(([name]) => name)).toEqual(['event: metadata', 'event: error',
        'event: end'])
      expect(JSON.parse(frames[1]![1]!.slice('data: '.length))).toMatchObject({
        error: 'UnknownInterruptError',
        message: expect.any(String),
        reason,
        pending_ids: ids.toSorted(),
      })
      const { interrupts, status } = await server.client.threads.get(id)
      expect(status).toBe('interrupted')
      expect(Object.values(interrupts).flat().map((each) => each.id).toSorted())
        .toEqual(ids.toSorted())
    },
  )

  it('to all of them is used', async () => {
    const { id, ids } = await asking('askboth')
    const resume = Object.fromEntries(ids.map((each) => [each, 'yes']))
    expect((await answer(id, 'askboth', resume)).body)
      .toMatchObject({ answers: ['left yes', 'right yes'] })
  })

  it('is not read beyond the head: an earlier checkpoint may be answered again', async () => {
    const { id, ids: [first] } = await asking('ask')
    const { checkpoint } = await server.client.threads.getState(id)
    await answer(id, 'ask', { [first!]: 'one' })
    const { body } = await ask(server.url, 'POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'ask',
      strict_resume: true,
      command: { resume: { [first!]: 'two' } },
      checkpoint_id: checkpoint.checkpoint_id,
    })
    expect(body).toEqual({ question: 'q', answers: [expect.any(String), 'after'] })
  })

  it('leaves what is not a resume alone', async () => {
    const parts = await collectAll(server.client.runs.stream(null, 'ask', {
      input: { question: 'q' },
      strict_resume: true,
    } as object))
    expect(parts.at(-1)).toMatchObject({ event: 'end', data: { status: 'success' } })
  })
})
