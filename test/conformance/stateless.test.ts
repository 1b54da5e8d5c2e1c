/** Runs without a thread: each gets a hidden thread, which is removed when the run has ended. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { collect, dataOf, namesOf, say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

describe('a run without a thread', () => {
  it('can be waited for', async () => {
    expect(texts(await server.client.runs.wait(null, 'echo', { input: say('x') })))
      .toEqual(['x', 'echo: x'])
  })

  it('can be streamed', async () => {
    const created: { run_id: string }[] = []
    const parts = await collect(server.client.runs.stream(null, 'steps', {
      input: { topic: 't' },
      streamMode: ['updates'],
      onRunCreated: (run) => created.push(run),
    }))
    expect(namesOf(parts)).toEqual(['metadata', 'updates'])
    expect(parts[0]!.data).toMatchObject({ run_id: created[0]!.run_id })
    expect(dataOf(parts, 'updates')).toHaveLength(3)
    expect(parts.every(({ id }) => id !== undefined)).toBe(true)
  })

  it('answers its location', async () => {
    const hold = gate()
    const answer = await ask(server.url, 'POST', '/runs', { assistant_id: 'held',
      input: say(`hold ${hold.url}`) })
    const run = answer.body as { run_id: string; thread_id: string }
    expect(answer.headers.get('content-location')).toBe(`/runs/${run.run_id}`)
    await hold.arrived()
    const joined = collect(server.client.runs.joinStream(null, run.run_id, { lastEventId: '-1' }))
    hold.open()
    expect((await joined)[0]).toMatchObject({ event: 'metadata', data: { run_id: run.run_id } })
  })

  it('may interrupt, and may fail', async () => {
    expect(await server.client.runs.wait(null, 'ask', { input: { question: 'q' } }))
      .toMatchObject({ __interrupt__: [{ value: { question: 'q' } }] })
    expect(
      await server.client.runs.wait(null, 'failing', { input: { topic: 'bad' },
        raiseError: false }),
    )
      .toMatchObject({ __error__: { error: 'TypeError', message: 'bad' } })
  })

  it('is refused with 404 for an unknown assistant', async () => {
    await expect(server.client.runs.wait(null, randomUUID(), { input: {} }))
      .rejects.toMatchObject({ status: 404 })
  })

  it('never answers null, whatever stream modes it has', async () => {
    const answer = await ask(server.url, 'POST', '/runs/wait', { assistant_id: 'echo',
      input: say('x'), stream_mode: ['updates'] })
    expect(answer.status).toBe(200)
    expect(texts(answer.body)).toEqual(['x', 'echo: x'])
  })

  it('begins with an empty state, whatever checkpoint it names', async () => {
    const answer = await ask(server.url, 'POST', '/runs/wait', { assistant_id: 'echo',
      input: say('hello'), checkpoint_id: '01890a5d-ac96-774b-bcce-b302099a8057' })
    expect(texts(answer.body)).toEqual(['hello', 'echo: hello'])
  })

  it('is cancelled when its client disconnects, if it asked for that', async () => {
    const hold = gate()
    const left = new AbortController()
    const gone = server.client.runs.wait(null, 'held', {
      input: say(`hold ${hold.url}`),
      onDisconnect: 'cancel',
      signal: left.signal,
    }).catch(() => 'gone')
    await hold.arrived()
    left.abort()
    expect(await gone).toBe('gone')
    await hold.left()
  })
})

describe('the thread of a run without a thread', () => {
  it('is gone when the run has ended', async () => {
    const { runs, threads } = server.client
    const hold = gate()
    const run = await runs.create(null, 'held', { input: say(`hold ${hold.url}`) })
    await hold.arrived()
    hold.open()
    await collect(runs.joinStream(null, run.run_id, { lastEventId: '-1' }))
    await expect.poll(() => threads.get(run.thread_id).catch(({ status }) => status as number))
      .toBe(404)
  })

  it('is found while it is only in memory', async () => {
    const { runs } = server.client
    const hold = gate()
    const result = runs.wait(null, 'held', { input: say(`hold ${hold.url}`),
      metadata: { found: 'in memory' } })
    await hold.arrived()
    const { body } = await ask(server.url, 'POST', '/runs/search', { status: 'running',
      graph_id: 'held' })
    // Runs of other files may go on in the server that they share.
    expect(body).toContainEqual(
      expect.objectContaining({ status: 'running',
        metadata: expect.objectContaining({ found: 'in memory' }) as unknown }),
    )
    hold.open()
    await result
  })

  it('is kept if asked for', async () => {
    const answer = await ask(server.url, 'POST', '/runs', { assistant_id: 'echo', input: say('x'),
      on_completion: 'keep' })
    const run = answer.body as { run_id: string; thread_id: string }
    await server.client.runs.join(run.thread_id, run.run_id)
    const thread = await server.client.threads.get(run.thread_id)
    expect(thread).toMatchObject({ status: 'idle' })
    expect(texts(thread.values)).toEqual(['x', 'echo: x'])
    expect(await server.client.threads.search({ ids: [run.thread_id] })).toHaveLength(1)
  })

  it.each(['complete', 'continue'])('may have on_completion %s', async (onCompletion) => {
    const answer = await ask(server.url, 'POST', '/runs/wait', { assistant_id: 'echo',
      input: say('x'), on_completion: onCompletion })
    expect(answer.status).toBe(200)
  })
})
