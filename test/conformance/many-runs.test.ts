/** Calls about many runs: created as a batch, cancelled together, and why each was cancelled. */

import type { Run } from '@langchain/langgraph-sdk'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { useTenant } from '../support/tenant.ts'

/** A tenant of its own: some tests cancel all runs that there are. */
const server = useTenant()
const gate = useGates()

const newThread = async () => (await server.client.threads.create()).thread_id
const unknown = randomUUID()

async function busyThread() {
  const id = await newThread()
  const first = await startHeld(server.client, id, gate())
  const later = await server.client.runs.create(id, 'echo', { input: say('later') })
  return { id, runId: first.runId, laterId: later.run_id }
}

/** The run with its reason, which the types of the client do not have. */
async function runOf(id: string, runId: string): Promise<Run & { cancel_reason: string | null }> {
  return await server.client.runs.get(id, runId) as Run & { cancel_reason: string | null }
}

describe('a batch of runs', () => {
  it('is created in its order, on threads or without, in either spelling', async () => {
    const { client } = server
    const id = await newThread()
    const runs = await client.runs.createBatch([
      { assistantId: 'echo', input: say('one'), streamMode: 'updates',
        onCompletion: 'keep' as 'complete' },
      { assistantId: 'echo', input: say('two'), metadata: { n: 2 }, ...{ threadId: id } },
      { assistantId: 'echo', input: say('three'), multitaskStrategy: 'enqueue',
        ...{ thread_id: id, metadata: { n: 3 } } },
    ])
    expect(runs.map(({ thread_id }) => thread_id)).toEqual([runs[0]!.run_id, id, id])
    expect(runs.map(({ metadata }) => (metadata as { n?: number }).n)).toEqual([undefined, 2, 3])
    expect((runs[0] as unknown as { kwargs: object }).kwargs)
      .toMatchObject({ stream_mode: ['updates'] })
    expect(texts(await client.runs.join(id, runs[2]!.run_id)))
      .toEqual(['two', 'echo: two', 'three', 'echo: three'])
    expect(texts(await client.runs.join(runs[0]!.thread_id, runs[0]!.run_id)))
      .toEqual(['one', 'echo: one'])
  })

  it('is refused as a whole for one wrong run, with its index', async () => {
    const good = { assistant_id: 'echo', thread_id: await newThread() }
    const wrong: [number, unknown, string?][] = [
      [422, [], ''],
      [422, {}, ''],
      [422, undefined, ''],
      [422, [good, 7], '1'],
      [422, [good, {}], '1.assistant_id'],
      [422, [good, good, { ...good, afterSeconds: -1 }], '2.after_seconds'],
      [422, [good, { ...good, webhook: 'ftp://a' }], '1.webhook'],
      [404, [good, { ...good, assistant_id: 'nosuch' }]],
      [422, Array.from({ length: 1_001 }, () => good), ''],
    ]
    for (const [status, body, field] of wrong) {
      const answer = await server.ask('POST', '/runs/batch', body)
      expect(answer, JSON.stringify(body)?.slice(0, 200)).toMatchObject({ status })
      const { errors } = answer.body as { errors?: { field: string }[] }
      expect(errors?.map((each) => each.field)).toEqual(field === undefined ? undefined : [field])
    }
    expect(await server.client.runs.list(good.thread_id)).toEqual([])
  })

  it('says which of its runs were started if one cannot be', async () => {
    const id = await newThread()
    const good = { assistant_id: 'echo', thread_id: id, input: say('x') }
    const { status, body } = await server.ask('POST', '/runs/batch', [good, { ...good,
      thread_id: unknown }, good])
    const [run, ...others] = await server.client.runs.list(id)
    expect({ status, body }).toMatchObject({ status: 409,
      body: { code: 'partly_done', admitted: [{ run_id: run!.run_id, thread_id: id }],
        errors: [{ field: '1' }] } })
    expect(others).toEqual([])
    expect(await server.ask('POST', '/runs/batch', [{ ...good, thread_id: unknown }]))
      .toMatchObject({ status: 404 })
  })

  it('is created once if it is sent again with its key', async () => {
    const id = await newThread()
    const body = [1, 2].map(() => ({ assistant_id: 'echo', thread_id: id, input: say('x') }))
    const send = async () =>
      (await server.ask('POST', '/runs/batch', body, { 'idempotency-key': 'k' })).body
    expect((await send() as Run[]).map(({ run_id }) => run_id))
      .toEqual((await send() as Run[]).map(({ run_id }) => run_id))
    expect(await server.client.runs.list(id)).toHaveLength(2)
  })
})

describe('cancelling many runs', () => {
  it('of one thread ends those that are named', async () => {
    const { client } = server
    const { id, runId, laterId } = await busyThread()
    await client.runs.cancelMany({ threadId: id, runIds: [runId, laterId, unknown] })
    for (const each of [runId, laterId]) {
      expect(await runOf(id, each)).toMatchObject({ status: 'interrupted',
        cancel_reason: expect.stringMatching(/^cancelled: /) })
    }
    const gone = await busyThread()
    await client.runs.cancelMany({ threadId: gone.id, runIds: [gone.runId, gone.laterId],
      action: 'rollback' })
    expect(await client.runs.list(gone.id)).toEqual([])
  })

  it('of one status leaves the others alone', async () => {
    const { client } = server
    const { id, runId, laterId } = await busyThread()
    const lonely = await client.runs.create(null, 'echo', { input: say('x'), afterSeconds: 600 })
    const statuses = async () =>
      Promise.all([runId, laterId].map(async (each) => (await client.runs.get(id, each)).status))
    await client.runs.cancelMany({ status: 'pending' })
    expect(await statuses()).toEqual(['running', 'interrupted'])
    await expect(client.runs.get(lonely.thread_id, lonely.run_id)).resolves
      .toMatchObject({ status: 'interrupted' })
    const next = await client.runs.create(id, 'echo', { input: say('next') })
    await client.runs.cancelMany({ status: 'running' })
    expect((await statuses())[0]).toBe('interrupted')
    await client.runs.join(id, next.run_id)
    expect(await client.runs.get(id, next.run_id)).toMatchObject({ status: 'success' })
    await client.runs.cancelMany({ status: 'all' })
  })

  it('of every status leaves no thread busy, however many there are', async () => {
    const { client } = server
    const body = Array.from({ length: 130 },
      () => ({ assistant_id: 'echo', thread_id: randomUUID(), if_not_exists: 'create',
        after_seconds: 600 }))
    await server.ask('POST', '/runs/batch', body)
    expect(await client.threads.count({ status: 'busy' })).toBe(130)
    await client.runs.cancelMany({ status: 'all' })
    expect(await client.threads.count({ status: 'busy' })).toBe(0)
    await client.runs.cancelMany({ status: 'all' })
  })

  it('refuses what it cannot understand', async () => {
    const thread_id = await newThread()
    const send = async (body: unknown, query = '') =>
      (await server.ask('POST', `/runs/cancel${query}`, body)).status
    for (const body of [{}, { thread_id }, { run_ids: [unknown] }, { thread_id, run_ids: [] }, {
      thread_id,
      run_ids: ['x'],
    }, { thread_id, run_ids: [unknown], status: 'all' }, { thread_id, status: 'all' }, {
      status: 'error',
    }]) {
      expect([body, await send(body)]).toEqual([body, 422])
    }
    expect(await send({ status: 'all' }, '?action=stop')).toBe(422)
    expect(await send({ thread_id, run_ids: [unknown] })).toBe(404)
    expect(await send({ thread_id: unknown, run_ids: [unknown] })).toBe(404)
  })
})

describe('the reason of a cancelled run', () => {
  it('is null for others, and may be selected', async () => {
    const { client } = server
    const id = await newThread()
    await client.runs.wait(id, 'echo', { input: say('x') })
    const [run] = await client.runs.list(id, {
      select: ['run_id', 'cancel_reason'] as unknown as 'run_id'[],
    })
    expect(run).toEqual({ run_id: run!.run_id, cancel_reason: null })
  })

  it('tells that another run took its input, or came in its place', async () => {
    const { client } = server
    const { id, runId, laterId } = await busyThread()
    const path = (run: string) => `/threads/${id}/runs/${run}/cancel?wait=1&reason=taken`
    expect((await server.ask('POST', `${path(laterId)}&action=rollback`)).status).toBe(422)
    expect((await server.ask('POST', path(laterId))).status).toBe(204)
    expect((await runOf(id, laterId)).cancel_reason).toMatch(/^taken: /)
    const next = await client.runs.create(id, 'echo', { multitaskStrategy: 'interrupt' })
    const { cancel_reason } = await runOf(id, runId)
    expect(cancel_reason).toMatch(/^superseded: /)
    expect(cancel_reason).toContain(next.run_id)
    await server.client.runs.join(id, next.run_id)
  })

  it('tells that the client has left', async () => {
    const id = await newThread()
    const left = new AbortController()
    const { runId } = await startHeld(server.client, id, gate(), {
      payload: { onDisconnect: 'cancel', signal: left.signal },
    })
    left.abort()
    await server.client.runs.join(id, runId)
    expect((await runOf(id, runId)).cancel_reason).toMatch(/^disconnected: /)
  })

  it('tells that the assistant was deleted; runs of others continue', async () => {
    const { assistants, runs } = server.client
    const { assistant_id } = await assistants.create({ graphId: 'echo' })
    const id = await newThread()
    const hold = gate()
    const first = await startHeld(server.client, id, hold)
    const second = await runs.create(id, assistant_id, { input: say('x') })
    await assistants.delete(assistant_id)
    expect(await runOf(id, second.run_id)).toMatchObject({ status: 'interrupted',
      cancel_reason: expect.stringMatching(/^assistant_deleted: /) })
    hold.open()
    await runs.join(id, first.runId)
    expect(await runOf(id, first.runId)).toMatchObject({ status: 'success', cancel_reason: null })
  })
})
