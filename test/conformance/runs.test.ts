/** Runs: the record, listing, waiting, forking, configuration, limits, failure. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { clientOf, useServer } from '../support/server.ts'
import { tookMs } from '../support/stillness.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()
/** A server that polled every half second would take longer on any machine. */
const answerMs = process.env['HEDDLE_TEST_STORE'] === 'cassandra' ? 450 : 250
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const newThread = async (metadata: Record<string, unknown> = {}) =>
  (await server.client.threads.create({ metadata })).thread_id

describe('creating a run', () => {
  it('answers the run at once', async () => {
    const id = await newThread({ both: 'thread', twice: 'thread' })
    const { assistant_id } = await server.client.assistants.create({
      graphId: 'held',
      metadata: { from: 'assistant', both: 'assistant', twice: 'assistant' },
    })
    const hold = gate()
    const run = await server.client.runs.create(id, assistant_id, {
      input: say(`hold ${hold.url}`),
      metadata: { from2: 'run', both: 'run' },
      streamMode: ['updates', 'values'],
      multitaskStrategy: 'enqueue',
    })
    expect(run).toMatchObject({
      run_id: expect.stringMatching(uuid),
      thread_id: id,
      assistant_id,
      status: expect.stringMatching(/^(pending|running)$/),
      multitask_strategy: 'enqueue',
      metadata: { from: 'assistant', twice: 'thread', from2: 'run', both: 'run' },
      created_at: expect.stringMatching(/(Z|[+-]\d\d:\d\d)$/),
      updated_at: expect.stringMatching(/(Z|[+-]\d\d:\d\d)$/),
      kwargs: { input: say(`hold ${hold.url}`), stream_mode: ['updates', 'values'] },
    })
    await hold.arrived()
    expect(await server.client.runs.get(id, run.run_id)).toMatchObject({ status: 'running' })
    hold.open()
    await server.client.runs.join(id, run.run_id)
    expect(await server.client.runs.get(id, run.run_id)).toMatchObject({ status: 'success' })
  })

  it('answers the location of the run', async () => {
    const id = await newThread()
    const answer = await ask(server.url, 'POST', `/threads/${id}/runs`, { assistant_id: 'echo',
      input: say('x') })
    const { run_id } = answer.body as { run_id: string }
    expect(answer.headers.get('content-location')).toBe(`/threads/${id}/runs/${run_id}`)
  })

  it('is refused with 404 for an unknown assistant', async () => {
    const id = await newThread()
    for (const assistant of ['nosuch', randomUUID()]) {
      await expect(server.client.runs.create(id, assistant, { input: {} }))
        .rejects.toMatchObject({ status: 404 })
    }
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })

  it('creates the thread if asked to', async () => {
    const id = randomUUID()
    const values = await server.client.runs.wait(id, 'echo', { input: say('x'),
      ifNotExists: 'create' })
    expect(texts(values)).toEqual(['x', 'echo: x'])
    expect(await server.client.threads.get(id))
      .toMatchObject({ status: 'idle', metadata: { graph_id: 'echo' } })
  })

  it('gives its metadata to a thread that it creates, and to no other', async () => {
    const { runs, threads } = server.client
    const [made, project, topic] = [randomUUID(), randomUUID(), randomUUID()]
    const seen = { input: say('x'), ifNotExists: 'create' } as const
    await runs.wait(made, 'echo', { ...seen, metadata: { project, graph_id: 'mine' } })
    await runs.wait(made, 'echo', { ...seen, metadata: { topic } })
    const [thread] = await threads.search({ metadata: { project } })
    expect(thread).toMatchObject({ thread_id: made, metadata: { project, graph_id: 'echo' } })
    expect(await threads.search({ metadata: { topic } })).toEqual([])
  })

  it('happens once for one Idempotency-Key', async () => {
    const id = await newThread()
    const key = randomUUID()
    const body = { assistant_id: 'echo', input: say('x') }
    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        ask(server.url, 'POST', `/threads/${id}/runs`, body, { 'idempotency-key': key })
      ),
    )
    const made = new Set(answers.map(({ body }) => (body as { run_id: string }).run_id))
    expect(made.size).toBe(1)
    await server.client.runs.join(id, [...made][0]!)
    expect(await server.client.runs.list(id)).toHaveLength(1)
    expect(texts((await server.client.threads.get(id)).values)).toEqual(['x', 'echo: x'])
  })

  it('may be scheduled: until then the run is pending and the thread busy', async () => {
    const id = await newThread()
    const began = performance.now()
    const run = await server.client.runs.create(id, 'echo', { input: say('x'), afterSeconds: 1 })
    expect(await server.client.runs.get(id, run.run_id)).toMatchObject({ status: 'pending' })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'busy' })
    await server.client.runs.join(id, run.run_id)
    expect(performance.now() - began).toBeGreaterThan(900)
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
  })
})

describe('the runs of a thread', () => {
  it('name the graph and the assistant that each of them had', async () => {
    const { runs } = server.client
    const id = await newThread()
    for (const graph of ['echo', 'steps']) await runs.wait(id, graph, { input: {} })
    const named = (await runs.list(id)).map(({ assistant_id, metadata }) => ({
      graph: metadata?.['graph_id'],
      same: metadata?.['assistant_id'] === assistant_id,
    }))
    expect(named).toEqual([{ graph: 'steps', same: true }, { graph: 'echo', same: true }])
  })

  it('are listed newest first, by status, in pages, field by field', async () => {
    const { runs } = server.client
    const id = await newThread()
    for (const n of [1, 2, 3]) await runs.wait(id, 'echo', { input: say(String(n)) })
    const hold = gate()
    const held = await startHeld(server.client, id, hold)
    const all = await runs.list(id)
    expect(all.map(({ status }) => status)).toEqual(['running', 'success', 'success', 'success'])
    expect(all[0]!.run_id).toBe(held.runId)
    const ids = all.map(({ run_id }) => run_id)
    const page = await runs.list(id, { limit: 2, offset: 1 })
    expect(page.map(({ run_id }) => run_id)).toEqual(ids.slice(1, 3))
    expect(await runs.list(id, { status: 'success' })).toHaveLength(3)
    expect(await runs.list(id, { status: 'pending', limit: 1_000 })).toEqual([])
    const [selected] = await runs.list(id, { limit: 1, select: ['run_id', 'status'] })
    expect(selected).toEqual({ run_id: held.runId, status: 'running' })
    const [why] = await runs.list(id, { limit: 1, select: ['run_id', 'cancel_reason' as never] })
    expect(why).toEqual({ run_id: held.runId, cancel_reason: null })
    hold.open()
    await held.stream.rest()
  })

  it('are got one by one; an unknown one is 404', async () => {
    const id = await newThread()
    await expect(server.client.runs.get(id, randomUUID())).rejects.toMatchObject({ status: 404 })
  })

  it('can be deleted when they have ended', async () => {
    const { runs, threads } = server.client
    const id = await newThread()
    await runs.wait(id, 'echo', { input: say('x') })
    const [run] = await runs.list(id)
    await runs.delete(id, run!.run_id)
    await expect(runs.get(id, run!.run_id)).rejects.toMatchObject({ status: 404 })
    await expect(runs.delete(id, run!.run_id)).rejects.toMatchObject({ status: 404 })
    expect(texts((await threads.get(id)).values)).toEqual(['x', 'echo: x'])
  })

  it('leave the thread usable if one is deleted in progress', async () => {
    const { runs, threads } = server.client
    const id = await newThread()
    const hold = gate()
    const held = await startHeld(server.client, id, hold)
    await runs.delete(id, held.runId)
    await hold.left()
    await expect(runs.get(id, held.runId)).rejects.toMatchObject({ status: 404 })
    expect((await threads.get(id)).status).not.toBeOneOf(['busy', 'error'])
    expect(texts(await runs.wait(id, 'echo', { input: say('on') })).at(-1)).toBe('echo: on')
  })
})

describe('waiting for a run', () => {
  it('answers the final values', async () => {
    const id = await newThread()
    expect(await server.client.runs.wait(id, 'steps', { input: { topic: 't' } }))
      .toEqual({ topic: 't', log: ['a:t', 'b:t', 'c:t'] })
  })

  it('answers the values that the thread has then', async () => {
    const id = await newThread()
    const values = await server.client.runs.wait(id, 'echo', { input: say('one') })
    expect((await server.client.threads.get(id)).values).toEqual(values)
    expect((await server.client.threads.getState(id)).values).toEqual(values)
  })

  it('throws the error of the graph, encoded only once', async () => {
    const id = await newThread()
    await expect(server.client.runs.wait(id, 'failing', { input: { topic: 'no luck' } }))
      .rejects.toThrow(/^TypeError: no luck$/)
    const raw = await server.client.runs.wait(id, 'failing', { input: { topic: 'no luck' },
      raiseError: false })
    expect(raw).toMatchObject({ __error__: { error: 'TypeError', message: 'no luck' } })
  })

  it('leaves a failed run with the status error', async () => {
    const id = await newThread()
    await server.client.runs.wait(id, 'failing', { input: { topic: 'x' }, raiseError: false })
    const [run] = await server.client.runs.list(id)
    expect(run).toMatchObject({ status: 'error' })
  })

  it('answers at once, without a poll', async () => {
    const id = await newThread()
    await server.client.runs.wait(id, 'echo', { input: say('warm') })
    const [times, ofWrites]: [number[], number[]] = [[], []]
    for (let n = 0; n < 10; n += 1) {
      const began = performance.now()
      await newThread()
      ofWrites.push(tookMs(began))
      const asked = performance.now()
      await server.client.runs.wait(id, 'echo', { input: say('x') })
      times.push(tookMs(asked))
    }
    // A disk that stalls delays one of them, a polling interval delays all. Where one write takes
    // long as well, a run may take as long as several.
    const median = (all: number[]) => all.toSorted((a, b) => a - b)[5]!
    expect(median(times)).toBeLessThan(Math.max(answerMs, 10 * median(ofWrites)))
  })
})

describe('the recursion limit', () => {
  it('ends a run with a GraphRecursionError', async () => {
    const id = await newThread()
    const failed = await server.client.runs.wait(id, 'endless', { input: { topic: 't' },
      config: { recursion_limit: 3 }, raiseError: false })
    expect(failed).toMatchObject({ __error__: { error: 'GraphRecursionError' } })
    expect(await server.client.threads.getState(id))
      .toMatchObject({ values: { log: ['again', 'again', 'again'] }, next: ['again'] })
  })

  it('of one run does not apply to the next', async () => {
    const id = await newThread()
    await server.client.runs.wait(id, 'steps', { input: { topic: 't' },
      config: { recursion_limit: 1 }, raiseError: false })
    expect(await server.client.runs.wait(id, 'steps', { input: { topic: 'u' } }))
      .toMatchObject({ log: expect.arrayContaining(['c:u']) })
  })
})

describe('forking', () => {
  const historyOf = (id: string) => server.client.threads.getHistory(id)
  const total = async (id: string, payload: object = {}) =>
    (await server.client.runs.wait(id, 'counter', { input: { by: 11 }, ...payload }) as {
      total: number
    }).total

  it('starts from the given checkpoint, once: later runs start from the newest', async () => {
    const id = await newThread()
    expect([await total(id), await total(id), await total(id)]).toEqual([11, 22, 33])
    const eleven = (await historyOf(id)).find(({ values, next }) =>
      (values as { total: number }).total === 11 && next.length === 0
    )!
    expect(await total(id, { checkpointId: eleven.checkpoint.checkpoint_id })).toBe(22)
    expect(await total(id)).toBe(33)
    expect(await total(id, { checkpoint: {
      checkpoint_id: eleven.checkpoint.checkpoint_id,
      checkpoint_ns: '',
      checkpoint_map: null,
    } })).toBe(22)
    expect(await total(id)).toBe(33)
    expect(await total(id)).toBe(44)
  })

  it('is refused with 404 or 422 for an unknown checkpoint', async () => {
    const id = await newThread()
    await total(id)
    await expect(total(id, { checkpointId: '1f000000-0000-6000-8000-000000000000' }))
      .rejects.toMatchObject({ status: expect.toBeOneOf([404, 422]) as number })
    expect((await server.client.threads.get(id)).values).toMatchObject({ total: 11 })
  })
})

describe('the configuration of a run', () => {
  const said = async (client: ReturnType<typeof clientOf>, id: string, payload: object = {}) =>
    (await client.runs.wait(id, 'configured', { input: { said: {} }, ...payload }) as {
      said: Record<string, unknown>
    }).said

  it('reaches the graph: configurable, context, project environment', async () => {
    const id = await newThread()
    expect(await said(server.client, id, {
      config: { configurable: { secret: 's1' } },
    })).toMatchObject({ secret: 's1', word: 'from the project' })
    expect(await said(server.client, id, { context: { model_name: 'm1' } }))
      .toMatchObject({ context: { model_name: 'm1' } })
  })

  it('does not leak into later runs of the thread', async () => {
    const id = await newThread()
    await said(server.client, id, { config: { configurable: { secret: 's1' } } })
    expect(await said(server.client, id)).toMatchObject({ secret: null })
    const [second] = await server.client.runs.list(id)
    expect(JSON.stringify(second)).not.toContain('s1')
  })

  it('includes x- headers of the request, but never the key', async () => {
    const id = await newThread()
    const client = clientOf(server.url, { 'x-colour': 'green', 'x-api-key': 'hush' })
    expect(await said(client, id)).toMatchObject({ header: 'green' })
    expect(JSON.stringify(await server.client.runs.list(id))).not.toContain('hush')
    expect(JSON.stringify(await server.client.threads.getState(id))).not.toContain('hush')
  })

  it.each(['sync', 'async', 'exit'] as const)('includes the durability %s', async (durability) => {
    const id = await newThread()
    await server.client.runs.wait(id, 'steps', { input: { topic: 't' }, durability })
    expect((await server.client.threads.getState(id)).values)
      .toEqual({ topic: 't', log: ['a:t', 'b:t', 'c:t'] })
    expect(await server.client.threads.getHistory(id)).toHaveLength(durability === 'exit' ? 1 : 5)
  })
})
