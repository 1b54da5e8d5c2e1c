/** Joining runs: many readers, late readers, readers that come back with their last event id. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { useCuttingProxy } from '../support/own-proxy.ts'
import { collect, namesOf, say, StreamReader, texts } from '../support/run-events.ts'
import type { Part } from '../support/run-events.ts'
import { clientOf, useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()
const proxy = useCuttingProxy()

const newThread = async () => (await server.client.threads.create()).thread_id
const nodesOf = (parts: readonly Part[]) =>
  parts.filter(({ event }) => event === 'updates')
    .flatMap(({ data }) => Object.keys(data as object))

/** Runs the graph `steps` to its end; `updates` and `values` were streamed without a reader. */
async function finishedRun(streamResumable: boolean) {
  const id = await newThread()
  const run = await server.client.runs.create(id, 'steps', {
    input: { topic: 't' },
    streamMode: ['updates', 'values'],
    streamResumable,
  })
  await server.client.runs.join(id, run.run_id)
  return { id, runId: run.run_id }
}

describe('join', () => {
  it('answers the final values to every caller', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    const joins = Array.from({ length: 5 }, () => server.client.runs.join(id, run.runId))
    hold.open()
    for (const values of await Promise.all(joins)) {
      expect(texts(values)).toEqual([run.text, 'first', 'held', 'last'])
    }
  })

  it('answers also after the run has ended', async () => {
    const { id, runId } = await finishedRun(false)
    for (let n = 0; n < 3; n += 1) {
      expect(await server.client.runs.join(id, runId)).toMatchObject({ topic: 't' })
    }
  })

  it('shows the interrupt of a run that waits, and the error of one that failed', async () => {
    const { runs } = server.client
    const id = await newThread()
    const asking = await runs.create(id, 'ask', { input: { question: 'q' } })
    expect(await runs.join(id, asking.run_id)).toMatchObject({
      __interrupt__: [{ value: { question: 'q' } }],
    })
    const other = await newThread()
    const failing = await runs.create(other, 'failing', { input: { topic: 'bad' } })
    expect(await runs.join(other, failing.run_id)).toMatchObject({
      __error__: { error: 'TypeError', message: 'bad' },
    })
  })

  it('answers values that only the graph can assemble', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const both = ['hello', 'echo: hello']
    expect(texts(await runs.wait(id, 'delta', { input: say('hello') }))).toEqual(both)
    const [run] = await runs.list(id)
    expect(texts(await runs.join(id, run!.run_id))).toEqual(both)
    expect(texts(await runs.wait(null, 'delta', { input: say('hello') }))).toEqual(both)
  })

  it('takes no events from a stream of the same run', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    const join = server.client.runs.join(id, run.runId)
    hold.open()
    expect(nodesOf(await run.stream.rest())).toEqual(['first', 'hold', 'last'])
    await join
  })
})

describe('joining the stream of a run in progress', () => {
  it('gives every reader every event from then on', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    const readers = Array.from({ length: 4 },
      () => collect(server.client.runs.joinStream(id, run.runId, { lastEventId: '-1' })))
    hold.open()
    const first = await run.stream.rest()
    for (const parts of await Promise.all(readers)) {
      expect(parts.map(({ id: eventId, data }) => [eventId, data]))
        .toEqual(first.map(({ id: eventId, data }) => [eventId, data]))
    }
  })

  it('gives what came after the last event that the reader has seen', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    const seen = run.stream.parts.at(-1)!.id!
    const joined = collect(server.client.runs.joinStream(id, run.runId, { lastEventId: seen }))
    hold.open()
    expect(nodesOf(await joined)).toEqual(['hold', 'last'])
  })

  it('gives only the modes that the reader asks for', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold, {
      payload: { streamMode: ['updates', 'values'] },
    })
    const joined = collect(
      server.client.runs.joinStream(id, run.runId, { lastEventId: '-1', streamMode: ['values'] }),
    )
    hold.open()
    const modes = new Set((await joined).map(({ event }) => event))
    modes.delete('metadata')
    expect([...modes]).toEqual(['values'])
  })

  it('outlives the reader that started it', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    await run.stream.leave()
    const joined = collect(server.client.runs.joinStream(id, run.runId, { lastEventId: '-1' }))
    hold.open()
    expect(nodesOf(await joined)).toEqual(['first', 'hold', 'last'])
  })

  it('cancels the run when the reader disconnects, if it asked for that', async () => {
    const id = await newThread()
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    const left = new AbortController()
    const joined = new StreamReader(
      server.client.runs.joinStream(id, run.runId, { lastEventId: '-1', cancelOnDisconnect: true,
        signal: left.signal }),
    )
    await joined.until(({ event }) => event === 'updates')
    left.abort()
    await hold.left()
    await server.client.runs.join(id, run.runId)
    expect(await server.client.runs.get(id, run.runId)).toMatchObject({ status: 'interrupted' })
  })
})

describe('joining the stream of a run that has ended', () => {
  it.each(['-1', '-'])('replays all of it after %s, as often as it is asked for', async (from) => {
    const { id, runId } = await finishedRun(true)
    const replay = () => collect(server.client.runs.joinStream(id, runId, { lastEventId: from }))
    const first = await replay()
    expect(first[0]).toMatchObject({ event: 'metadata', data: { run_id: runId } })
    expect(first.filter(({ event }) => event === 'values')).toHaveLength(4)
    expect(nodesOf(first)).toEqual(['a', 'b', 'c'])
    expect(await replay()).toEqual(first)
  })

  it('replays all of it without an id as well', async () => {
    const { id, runId } = await finishedRun(true)
    const parts = await collect(server.client.runs.joinStream(id, runId))
    expect(nodesOf(parts)).toEqual(['a', 'b', 'c'])
  })

  it('replays what follows an id, and nothing after the last', async () => {
    const { id, runId } = await finishedRun(true)
    const all = await collect(server.client.runs.joinStream(id, runId, { lastEventId: '-1' }))
    for (const [at, { id: eventId }] of all.entries()) {
      const rest = await collect(
        server.client.runs.joinStream(id, runId, { lastEventId: eventId! }),
      )
      expect(rest).toEqual(all.slice(at + 1))
    }
  })

  it('replays all modes to a client that writes an empty one, as it does without modes',
    async () => {
      const { id, runId } = await finishedRun(true)
      const path = `/threads/${id}/runs/${runId}/stream`
      const read = async (query: string) => {
        const answer = await fetch(`${server.url}${path}${query}`, {
          headers: { 'last-event-id': '-1' },
        })
        return [answer.status, await answer.text()]
      }
      const [status, text] = await read('?stream_mode=&cancel_on_disconnect=')
      expect([status, text]).toEqual(await read(''))
      expect(status).toBe(200)
      expect(text).toContain('event: updates')
    })

  it('closes at once for a run that was not kept for replay', async () => {
    const { id, runId } = await finishedRun(false)
    const parts = await collect(server.client.runs.joinStream(id, runId))
    expect(namesOf(parts)).not.toContain('error')
  })

  it('replays the error of a run that failed', async () => {
    const id = await newThread()
    const run = await server.client.runs.create(id, 'failing', { input: { topic: 'bad' },
      streamMode: ['updates'], streamResumable: true })
    await server.client.runs.join(id, run.run_id)
    const parts = await collect(
      server.client.runs.joinStream(id, run.run_id, { lastEventId: '-1' }),
    )
    expect(parts.at(-1)).toMatchObject({
      event: 'error',
      data: { error: 'TypeError', message: 'bad' },
    })
  })
})

describe('joining the stream of an unknown run', () => {
  it('is 404, not an event', async () => {
    const id = await newThread()
    const path = (thread: string) => `/threads/${thread}/runs/${randomUUID()}/stream`
    expect((await ask(server.url, 'GET', path(id))).status).toBe(404)
    expect((await ask(server.url, 'GET', path(randomUUID()))).status).toBe(404)
    expect((await ask(server.url, 'GET', `/runs/${randomUUID()}/stream`)).status).toBe(404)
  })
})

describe('the official client behind a connection that breaks', () => {
  it('reconnects by itself, misses nothing and gets nothing twice', async () => {
    const id = await newThread()
    const through = clientOf(await proxy.to(server.url))
    const hold = gate()
    const run = await startHeld(through, id, hold, { payload: { onDisconnect: 'continue' } })
    proxy.cut()
    hold.open()
    const parts = await run.stream.rest()
    expect(nodesOf(parts)).toEqual(['first', 'hold', 'last'])
    expect(namesOf(parts)).not.toContain('error')
    expect(texts(await server.client.runs.join(id, run.runId)))
      .toEqual([run.text, 'first', 'held', 'last'])
  })

  it('does not cancel the run, however often that happens', async () => {
    const id = await newThread()
    const through = clientOf(await proxy.to(server.url))
    const hold = gate()
    const waiting = through.runs.wait(id, 'held', { input: say(`hold ${hold.url}`) })
      .catch(() => 'cut')
    await hold.arrived()
    proxy.cut()
    expect(await waiting).toBe('cut')
    hold.open()
    const [run] = await server.client.runs.list(id)
    await server.client.runs.join(id, run!.run_id)
    expect(await server.client.runs.get(id, run!.run_id)).toMatchObject({ status: 'success' })
  })
})
