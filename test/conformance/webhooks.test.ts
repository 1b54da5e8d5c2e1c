/** Webhooks of runs: called when a run has ended, with its result; through the official client. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { firstFreePort } from '../support/port.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Received, Receiver } from '../support/receiver.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver(({ path }, response) => {
    const again = path === '/again' && seen(path).length === 1
    response.writeHead(again ? 503 : 200).end()
  })
})
afterAll(() => receiver.close())

const seen = (path: string): readonly Received[] =>
  receiver.received.filter((one) => one.path === path)

/** What was received at this path, which only one test uses. */
async function hookOf(path: string): Promise<Received & { readonly run: Record<string, unknown> }> {
  for (let count = 1; seen(path).length === 0; count++) await receiver.arrived(count)
  const [one] = seen(path)
  return { ...one!, run: JSON.parse(one!.body) as Record<string, unknown> }
}

const webhook = (path: string) => `http://127.0.0.1:${receiver.port}${path}`

describe('a webhook', () => {
  it('receives the record, the times and the state of a background run', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const made = await runs.create(id, 'echo', { input: say('hello'), metadata: { mine: 1 },
      webhook: webhook('/create') })
    const { run, method, headers } = await hookOf('/create')
    expect(method).toBe('POST')
    expect(headers).toMatchObject({ 'x-word': 'a secret', 'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^heddle\//), 'idempotency-key': made.run_id,
      'x-heddle-delivery': made.run_id })
    const { values } = await threads.getState(id)
    const record = await runs.get(id, made.run_id)
    expect(run).toMatchObject({ ...record, status: 'success', values })
    expect(run).not.toHaveProperty('error')
    const times = ['created_at', 'run_started_at', 'run_ended_at', 'webhook_sent_at']
      .map((name) => Date.parse(String(run[name])))
    expect(times.some(Number.isNaN)).toBe(false)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('receives values that only the graph can assemble', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.create(id, 'delta', { input: say('hello'),
      webhook: webhook('/delta') })
    expect(texts((await hookOf('/delta')).run.values)).toEqual(['hello', 'echo: hello'])
  })

  it('is called however the run was created', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'echo', { input: say('a'), webhook: webhook('/wait') })
    const stream = runs.stream(id, 'echo', { input: say('b'), webhook: webhook('/stream') })
    for await (const _ of stream);
    for (const path of ['/wait', '/stream']) {
      expect((await hookOf(path)).run).toMatchObject({ thread_id: id, status: 'success',
        values: { messages: expect.any(Array) } })
    }
  })

  it('of a stateless run has no state, unless its thread is kept', async () => {
    const { runs } = server.client
    await runs.wait(null, 'echo', { input: say('a'), webhook: webhook('/gone') })
    await runs.create(null, 'echo', { input: say('a'), webhook: webhook('/background') })
    await ask(server.url, 'POST', '/runs', { assistant_id: 'echo', input: say('a'),
      webhook: webhook('/kept'), on_completion: 'keep' })
    for (const path of ['/gone', '/background']) {
      const { run } = await hookOf(path)
      expect(run).toMatchObject({ status: 'success' })
      expect(run).not.toHaveProperty('values')
    }
    expect((await hookOf('/kept')).run).toHaveProperty('values')
  })

  it('is called for a failure, a cancellation, and a run that waits for a human', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'failing', { input: { topic: 't' }, webhook: webhook('/failing'),
      raiseError: false })
    expect((await hookOf('/failing')).run).toMatchObject(
      { status: 'error', error: expect.any(String) },
    )
    const { runId } = await startHeld(server.client, id, gate(), {
      payload: { webhook: webhook('/cancelled') },
    })
    await runs.cancel(id, runId)
    expect((await hookOf('/cancelled')).run).toMatchObject({ status: 'interrupted' })
    await runs.wait(id, 'ask', { input: { question: 'q' }, webhook: webhook('/asks') })
    expect((await hookOf('/asks')).run).toMatchObject({ status: 'success' })
  })

  it('is called again if it failed, as the same delivery', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'echo', { input: say('a'), webhook: webhook('/again') })
    for (let count = 1; seen('/again').length < 2; count++) await receiver.arrived(count)
    const ids = seen('/again').map(({ headers }) => headers['x-heddle-delivery'])
    expect(ids[0]).toBe(ids[1])
  })

  it('is shown in the run, and can be set by the typed API as well', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const { run_id: runId } = await runs.create(id, 'echo', { input: say('a'),
      webhook: webhook('/shown') })
    expect(await runs.get(id, runId)).toMatchObject({ kwargs: { webhook: webhook('/shown') } })
    const answer = await ask(server.url, 'POST', '/frontdoor.v1.RunService/WaitRun', { run: {
      threadId: id,
      assistantId: 'echo',
      webhook: webhook('/typed'),
      inputJson: Buffer.from(JSON.stringify(say('b'))).toString('base64'),
    } })
    expect(answer.status).toBe(200)
    expect((await hookOf('/typed')).run).toMatchObject({ thread_id: id })
  })

  it('that always fails stops nothing', async () => {
    const { runs, threads } = server.client
    const nobody = `http://127.0.0.1:${await firstFreePort()}/`
    const { thread_id: id } = await threads.create()
    for (let n = 0; n < 12; n++) {
      await runs.wait(id, 'echo', { input: say('a'), webhook: nobody })
    }
    expect(await runs.wait(null, 'echo', { input: say('still') })).toBeTruthy()
  })
})

describe('an invalid webhook', () => {
  it.each(['not a url', '/loop', 'ftp://example.org/', 'http://10.0.0.1/', 'http://[::1]/',
    'http://[::ffff:10.0.0.1]/', 'http://2130706434/', 'http://user:pw@example.org/',
    'http://127.0.0.1:22/', `http://example.org/${'a'.repeat(2_048)}`, '', 7])(
      'is refused with a sentence: %s',
      async (webhook) => {
        for (const path of ['/runs/wait', '/runs']) {
          const answer = await ask(server.url, 'POST', path, { assistant_id: 'echo',
            input: say('x'), webhook })
          expect(answer.status).toBe(422)
          expect(messageOf(answer)).toMatch(/^webhook: .*must /)
        }
      },
    )

  it('is refused by the typed API in the same words', async () => {
    const answer = await ask(server.url, 'POST', '/frontdoor.v1.RunService/CreateRun', {
      run: { assistantId: 'echo', webhook: 'http://169.254.169.254/' },
    })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).toContain('link-local')
  })

  it('is refused before anything is created', async () => {
    const id = crypto.randomUUID()
    await ask(server.url, 'POST', `/threads/${id}/runs`, { assistant_id: 'echo',
      if_not_exists: 'create', webhook: 'http://10.0.0.1/' })
    await expect(server.client.threads.get(id)).rejects.toThrow('404')
  })
})
