/** Cancelling runs: pending or running, with the finished steps kept or rolled back. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useGates } from '../support/gate.ts'
import type { Gate } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

async function busyThread(how: 'hold' | 'stubborn' = 'hold') {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'echo', { input: say('before') })
  const hold = gate()
  return { id, hold, first: await startHeld(server.client, id, hold, { how }) }
}

const said = ['before', 'echo: before']

describe('cancelling many background runs at once', () => {
  /** The texts and the number of states of threads whose only run was cancelled. */
  const cancelled = (payload: object, when: (hold: Gate) => Promise<void>) =>
    Promise.all(Array.from({ length: 20 }, async () => {
      const { runs, threads } = server.client
      const { thread_id: id } = await threads.create()
      const hold = gate()
      const { run_id: runId } = await runs.create(id, 'held', { input: say(`hold ${hold.url}`),
        ...payload })
      await when(hold)
      await runs.cancel(id, runId)
      expect(await runs.get(id, runId)).toMatchObject({ status: 'interrupted' })
      const { values } = await threads.get(id)
      return { all: texts(values), states: (await threads.getHistory(id)).length }
    }))

  it('keeps the input and the completed step of each, cancelled in its second step', async () => {
    for (const each of await cancelled({}, (hold) => hold.arrived())) {
      expect(each).toEqual({ all: [expect.any(String), 'first'], states: 3 })
    }
  })

  it('keeps the input of each, cancelled as soon as it was acknowledged', async () => {
    for (const { all } of await cancelled({}, async () => {})) {
      expect(all[0]).toContain('hold ')
    }
  })

  it('keeps the state of each whose durability is exit', async () => {
    for (const each of await cancelled({ durability: 'exit' }, (hold) => hold.arrived())) {
      expect(each).toEqual({ all: [expect.any(String), 'first'], states: 1 })
    }
  })
})

describe('cancelling a running run', () => {
  it('stops its node and keeps its finished steps; values and state stay', async () => {
    const { runs, threads } = server.client
    const { id, hold, first } = await busyThread()
    await runs.cancel(id, first.runId, true)
    await hold.left()
    expect(await runs.get(id, first.runId)).toMatchObject({ status: 'interrupted' })
    const thread = await threads.get(id)
    expect(thread.status).not.toBeOneOf(['busy', 'error'])
    expect(texts(thread.values)).toEqual([...said, first.text, 'first'])
    expect(thread.interrupts).toBeDefined()
    const state = await threads.getState(id)
    expect(state).toMatchObject({ next: ['hold'] })
    expect(state.values).toEqual(thread.values)
  })

  it('ends its streams and joins without an error', async () => {
    const { runs } = server.client
    const { id, first } = await busyThread()
    const join = runs.join(id, first.runId)
    await runs.cancel(id, first.runId, true)
    expect((await first.stream.rest()).map(({ event }) => event)).toEqual(['metadata', 'updates'])
    expect(texts(await join)).toEqual([...said, first.text, 'first'])
  })

  it('answers 202 at once, or 204 when the run has ended', async () => {
    const { id, first } = await busyThread()
    const path = `/threads/${id}/runs/${first.runId}/cancel`
    expect((await ask(server.url, 'POST', `${path}?wait=0`)).status).toBe(202)
    await first.stream.rest()
    const second = await busyThread()
    const waited = await ask(server.url, 'POST',
      `/threads/${second.id}/runs/${second.first.runId}/cancel?wait=1`)
    expect(waited.status).toBe(204)
    expect(await server.client.runs.get(second.id, second.first.runId))
      .toMatchObject({ status: 'interrupted' })
  })

  it('never waits for a node that ignores the cancellation', async () => {
    const { runs, threads } = server.client
    const { id, hold, first } = await busyThread('stubborn')
    await runs.cancel(id, first.runId, true)
    expect(await runs.get(id, first.runId)).toMatchObject({ status: 'interrupted' })
    const values = await runs.wait(id, 'echo', { input: say('next') })
    hold.open()
    expect(texts(values)).toEqual([...said, first.text, 'first', 'next', 'echo: next'])
    await runs.wait(id, 'echo', { input: say('last') })
    expect(texts((await threads.get(id)).values).slice(-2)).toEqual(['last', 'echo: last'])
    expect(texts((await threads.get(id)).values)).not.toContain('held')
  })

  it('lets the next run of the queue continue', async () => {
    const { runs } = server.client
    const { id, first } = await busyThread()
    const second = await runs.create(id, 'echo', { input: say('second') })
    await runs.cancel(id, first.runId)
    expect(texts(await runs.join(id, second.run_id)))
      .toEqual([...said, first.text, 'first', 'second', 'echo: second'])
  })
})

describe('cancelling a running run with rollback', () => {
  it('deletes the run and takes back what it did', async () => {
    const { runs, threads } = server.client
    const { id, hold, first } = await busyThread()
    const before = await runs.list(id, { status: 'success' })
    await runs.cancel(id, first.runId, true, 'rollback')
    await hold.left()
    await expect(runs.get(id, first.runId)).rejects.toMatchObject({ status: 404 })
    expect((await runs.list(id)).map(({ run_id }) => run_id))
      .toEqual(before.map(({ run_id }) => run_id))
    const thread = await threads.get(id)
    expect(thread.status).toBe('idle')
    expect(texts(thread.values)).toEqual(said)
    expect(JSON.stringify(await threads.getHistory(id, { limit: 100 })))
      .not.toContain(first.runId)
    expect(texts(await runs.wait(id, 'echo', { input: say('on') })))
      .toEqual([...said, 'on', 'echo: on'])
  })

  it('ends its stream', async () => {
    const { runs } = server.client
    const { id, first } = await busyThread()
    await runs.cancel(id, first.runId, true, 'rollback')
    const parts = await first.stream.rest()
    const after = parts.slice(2)
    expect(after.length).toBeLessThanOrEqual(1)
    for (const { event } of after) expect(event).toBe('error')
  })
})

describe('cancelling a pending run', () => {
  it.each(['interrupt', 'rollback'] as const)('with %s leaves the running one alone',
    async (action) => {
      const { runs, threads } = server.client
      const { id, hold, first } = await busyThread()
      const pending = await runs.create(id, 'echo', { input: say('never') })
      await runs.cancel(id, pending.run_id, true, action)
      if (action === 'interrupt') {
        expect(await runs.get(id, pending.run_id)).toMatchObject({ status: 'interrupted' })
      } else {
        await expect(runs.get(id, pending.run_id)).rejects.toMatchObject({ status: 404 })
      }
      expect(await threads.get(id)).toMatchObject({ status: 'busy' })
      hold.open()
      await first.stream.rest()
      await runs.join(id, first.runId)
      expect(await threads.get(id)).toMatchObject({ status: 'idle' })
      expect(texts((await threads.get(id)).values)).toEqual(
        [...said, first.text, 'first', 'held', 'last'],
      )
    })

  it.each(['interrupt', 'rollback'] as const)('scheduled for later with %s frees the thread',
    async (action) => {
      const { runs, threads } = server.client
      const { thread_id: id } = await threads.create()
      const later = await runs.create(id, 'echo', { input: say('x'), afterSeconds: 3_600 })
      await runs.cancel(id, later.run_id, true, action)
      expect(await threads.get(id)).toMatchObject({ status: 'idle' })
      expect(texts(await runs.wait(id, 'echo', { input: say('now') }))).toEqual(
        ['now', 'echo: now'],
      )
    })
})

describe('cancelling', () => {
  it('a run that is over changes nothing', async () => {
    const { runs } = server.client
    const { thread_id: id } = await server.client.threads.create()
    await runs.wait(id, 'echo', { input: say('x') })
    const [run] = await runs.list(id)
    await runs.cancel(id, run!.run_id, true)
    await runs.cancel(id, run!.run_id, false)
    expect(await runs.get(id, run!.run_id)).toMatchObject({ status: 'success' })
  })

  it('an unknown run is 404', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await expect(server.client.runs.cancel(id, randomUUID())).rejects.toMatchObject({ status: 404 })
  })

  it('with an unknown action is 422', async () => {
    const { id, hold, first } = await busyThread()
    const path = `/threads/${id}/runs/${first.runId}/cancel?action=explode`
    expect((await ask(server.url, 'POST', path)).status).toBe(422)
    hold.open()
    await first.stream.rest()
  })
})

describe('a client that goes away', () => {
  it('cancels the run if it asked for that', async () => {
    const { runs } = server.client
    const { thread_id: id } = await server.client.threads.create()
    const hold = gate()
    const left = new AbortController()
    const first = await startHeld(server.client, id, hold, {
      payload: { onDisconnect: 'cancel', signal: left.signal },
    })
    left.abort()
    await hold.left()
    await runs.join(id, first.runId)
    expect(await runs.get(id, first.runId)).toMatchObject({ status: 'interrupted' })
  })

  it('keeps the run if it has repeated its request with the same key', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    const body = JSON.stringify({ assistant_id: 'held', input: say(`hold ${hold.url}`),
      on_disconnect: 'cancel', stream_mode: 'values' })
    const follow = (signal?: AbortSignal) =>
      fetch(`${server.url}/threads/${id}/runs/stream`, { method: 'POST', body, signal,
        headers: { 'content-type': 'application/json', 'idempotency-key': 'repeated' } })
    const readers = async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/stream_readers\{wire="sse"\} (\d+)/.exec(metrics)?.[1])
    }
    const lost = new AbortController()
    await follow(lost.signal)
    await hold.arrived()
    const second = await follow()
    // Other tests may have left streams open.
    const before = await readers()
    lost.abort()
    await eventually(async () => expect(await readers()).toBeLessThan(before))
    hold.open()
    await second.text()
    expect(await runs.list(id)).toMatchObject([{ status: 'success' }])
  })

  it.each(['wait', 'join'] as const)('cancels the run that it was in a %s for', async (how) => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    const left = new AbortController()
    const { promise: asked, resolve: joined } = Promise.withResolvers<Response>()
    const input = say(`hold ${hold.url}`)
    const waiting = how === 'wait'
      ? runs.wait(id, 'held', { input, onDisconnect: 'cancel', signal: left.signal })
      : runs.create(id, 'held', { input }).then(async (run) => {
        // The headers come while the run continues: from then on the server has the request.
        const path = `/threads/${id}/runs/${run.run_id}/join?cancel_on_disconnect=1`
        joined(await fetch(server.url + path, { signal: left.signal }))
        return runs.join(id, run.run_id, { signal: left.signal })
      })
    const gone = waiting.catch(() => 'gone')
    await hold.arrived()
    if (how === 'join') await asked
    left.abort()
    expect(await gone).toBe('gone')
    await hold.left()
    const [run] = await runs.list(id)
    await runs.join(id, run!.run_id)
    expect(await runs.get(id, run!.run_id)).toMatchObject({ status: 'interrupted' })
  })

  it('otherwise changes nothing, and the run continues', async () => {
    const { runs } = server.client
    const { thread_id: id } = await server.client.threads.create()
    const hold = gate()
    const left = new AbortController()
    const first = await startHeld(server.client, id, hold, { payload: { signal: left.signal } })
    left.abort()
    expect(await runs.get(id, first.runId)).toMatchObject({ status: 'running' })
    hold.open()
    expect(texts(await runs.join(id, first.runId)))
      .toEqual([first.text, 'first', 'held', 'last'])
  })
})
