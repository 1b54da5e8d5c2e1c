/** Two runs on one thread: reject, enqueue, interrupt, rollback. */

import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

/** A thread with earlier messages and a run that is held in its middle node. */
async function busyThread(...before: string[]) {
  const { thread_id: id } = await server.client.threads.create()
  for (const word of before) await server.client.runs.wait(id, 'echo', { input: say(word) })
  const hold = gate()
  return { id, hold, first: await startHeld(server.client, id, hold) }
}

const valuesOf = async (id: string) => texts((await server.client.threads.get(id)).values)
const statusesOf = async (id: string) =>
  (await server.client.runs.list(id)).map(({ status }) => status)

describe('a second run with reject', () => {
  it('is refused with 422, and the first one continues', async () => {
    const { id, hold, first } = await busyThread()
    await expect(
      server.client.runs.create(id, 'echo', { input: say('no'), multitaskStrategy: 'reject' }),
    ).rejects.toMatchObject({ status: 422 })
    hold.open()
    await first.stream.rest()
    expect(await valuesOf(id)).toEqual([first.text, 'first', 'held', 'last'])
    expect(await statusesOf(id)).toEqual(['success'])
  })

  it('is accepted if the thread is free', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const payload = { input: say('x'), multitaskStrategy: 'reject' as const }
    expect(texts(await server.client.runs.wait(id, 'echo', payload))).toEqual(['x', 'echo: x'])
  })
})

describe('a second run with enqueue', () => {
  it('waits for the first, and runs on top of it', async () => {
    const { id, hold, first } = await busyThread()
    const second = await server.client.runs.create(id, 'echo', { input: say('second'),
      multitaskStrategy: 'enqueue' })
    expect(await server.client.runs.get(id, second.run_id)).toMatchObject({ status: 'pending' })
    hold.open()
    const values = await server.client.runs.join(id, second.run_id)
    expect(texts(values)).toEqual(
      [first.text, 'first', 'held', 'last', 'second', 'echo: second'],
    )
  })

  it('is the default', async () => {
    const { id, hold } = await busyThread()
    const second = await server.client.runs.create(id, 'echo', { input: say('second') })
    expect(second.multitask_strategy).toBe('enqueue')
    expect(await statusesOf(id)).toEqual(['pending', 'running'])
    hold.open()
    await server.client.runs.join(id, second.run_id)
    expect(await statusesOf(id)).toEqual(['success', 'success'])
  })

  it('keeps the order of many', async () => {
    const { id, hold, first } = await busyThread()
    const words = Array.from({ length: 10 }, (_, n) => `w${n}`)
    const queued = []
    for (const word of words) {
      queued.push(await server.client.runs.create(id, 'echo', { input: say(word) }))
    }
    expect((await server.client.threads.get(id)).status).toBe('busy')
    hold.open()
    await Promise.all(queued.map(({ run_id }) => server.client.runs.join(id, run_id)))
    expect(await valuesOf(id)).toEqual([first.text, 'first', 'held', 'last',
      ...words.flatMap((word) => [word, `echo: ${word}`])])
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('runs also if the one before it failed, and the thread stays busy until then', async () => {
    const { id, hold } = await busyThread()
    const failing = await server.client.runs.create(id, 'failing', { input: { topic: 'bad' } })
    const hold2 = gate()
    const after = await server.client.runs.create(id, 'held', { input: say(`hold ${hold2.url}`) })
    hold.open()
    await hold2.arrived()
    expect(await server.client.runs.get(id, failing.run_id)).toMatchObject({ status: 'error' })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'busy' })
    hold2.open()
    await server.client.runs.join(id, after.run_id)
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('is refused with 429 if a hundred wait already', async () => {
    const { id, hold } = await busyThread()
    const create = () => server.client.runs.create(id, 'echo', { input: say('x') })
    for (let n = 0; n < 10; n += 1) await Promise.all(Array.from({ length: 10 }, create))
    await expect(create()).rejects.toMatchObject({ status: 429 })
    const { runs, threads } = server.client
    await threads.delete(id)
    await hold.left()
    await expect(runs.list(id)).rejects.toMatchObject({ status: 404 })
  })
})

describe('a second run with interrupt', () => {
  it('ends the first, keeps its finished steps, and runs on top of them', async () => {
    const { id, hold, first } = await busyThread()
    const values = await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'interrupt' })
    await hold.left()
    expect(texts(values)).toEqual([first.text, 'first', 'second', 'echo: second'])
    expect(await statusesOf(id)).toEqual(['success', 'interrupted'])
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('also ends the runs that wait behind the first', async () => {
    const { id, first } = await busyThread()
    await server.client.runs.create(id, 'echo', { input: say('waits') })
    const values = await server.client.runs.wait(id, 'echo', { input: say('last'),
      multitaskStrategy: 'interrupt' })
    expect(texts(values)).toEqual([first.text, 'first', 'last', 'echo: last'])
    expect(await statusesOf(id)).toEqual(['success', 'interrupted', 'interrupted'])
  })

  it('does not wait for a node that ignores the interruption, which writes nothing', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const hold = gate()
    const first = await startHeld(server.client, id, hold, { how: 'stubborn' })
    await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'interrupt' })
    hold.open()
    await server.client.runs.wait(id, 'echo', { input: say('third') })
    expect(await valuesOf(id)).toEqual(
      [first.text, 'first', 'second', 'echo: second', 'third', 'echo: third'],
    )
  })

  it('ends the stream of the first without an error', async () => {
    const { id, first } = await busyThread()
    await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'interrupt' })
    const parts = await first.stream.rest()
    expect(parts.map(({ event }) => event)).toEqual(['metadata', 'updates'])
  })
})

describe('a second run with rollback', () => {
  it('deletes the first and leaves nothing of it', async () => {
    const { id, first } = await busyThread()
    const second = await server.client.runs.create(id, 'echo', { input: say('second'),
      multitaskStrategy: 'rollback' })
    const values = await server.client.runs.join(id, second.run_id)
    expect(texts(values)).toEqual(['second', 'echo: second'])
    expect(await valuesOf(id)).toEqual(['second', 'echo: second'])
    await expect(server.client.runs.get(id, first.runId)).rejects.toMatchObject({ status: 404 })
    const runs = await server.client.runs.list(id)
    expect(runs.map(({ run_id }) => run_id)).toEqual([second.run_id])
    const history = await server.client.threads.getHistory(id, { limit: 100 })
    expect(JSON.stringify(history)).not.toContain(first.runId)
    expect(JSON.stringify(history)).not.toContain(first.text)
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('keeps what was there before the first', async () => {
    const { id, first } = await busyThread('before')
    const values = await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'rollback' })
    expect(texts(values)).toEqual(['before', 'echo: before', 'second', 'echo: second'])
    const history = await server.client.threads.getHistory(id, { limit: 100 })
    expect(JSON.stringify(history)).not.toContain(first.runId)
    const entries = new Map(history.map((entry) => [entry.checkpoint.checkpoint_id, entry]))
    for (const { parent_checkpoint: parent } of history.slice(0, -1)) {
      expect(entries.has(parent!.checkpoint_id!)).toBe(true)
    }
  })

  it('keeps metadata that was written meanwhile', async () => {
    const { id } = await busyThread()
    await server.client.threads.update(id, { metadata: { meanwhile: true } })
    await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'rollback' })
    expect((await server.client.threads.get(id)).metadata).toMatchObject({ meanwhile: true })
  })

  it('does not let a node that ignores the rollback write afterwards', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const hold = gate()
    await startHeld(server.client, id, hold, { how: 'stubborn' })
    await server.client.runs.wait(id, 'echo', { input: say('second'),
      multitaskStrategy: 'rollback' })
    hold.open()
    await server.client.runs.wait(id, 'echo', { input: say('third') })
    expect(await valuesOf(id)).toEqual(['second', 'echo: second', 'third', 'echo: third'])
  })
})

describe('a run from a checkpoint that a rollback drops', () => {
  const headOf = async (id: string) =>
    (await server.client.threads.getState(id)).checkpoint.checkpoint_id!

  it('is refused with 404 if it asks for that rollback, and the first continues', async () => {
    const { id, hold, first } = await busyThread('before')
    await expect(
      server.client.runs.create(id, 'echo', { input: say('second'), checkpointId: await headOf(id),
        multitaskStrategy: 'rollback' }),
    ).rejects.toMatchObject({ status: 404 })
    hold.open()
    await first.stream.rest()
    expect(await valuesOf(id)).toEqual(
      ['before', 'echo: before', first.text, 'first', 'held', 'last'],
    )
  })

  it('fails if it was already queued, and leaves the state as it was', async () => {
    const { id, first } = await busyThread('before')
    const second = await server.client.runs.create(id, 'echo', { input: say('second'),
      checkpointId: await headOf(id) })
    await server.client.runs.cancel(id, first.runId, true, 'rollback')
    expect(await server.client.runs.join(id, second.run_id)).toMatchObject({
      __error__: { message: expect.stringContaining('is not there any more') },
    })
    expect(await valuesOf(id)).toEqual(['before', 'echo: before'])
  })
})
