/** The stream of a thread: the events of all its runs, for clients that come, leave and return. */

import { describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'

const server = useServer()

interface Frame {
  readonly id?: string | undefined
  readonly event: string
  readonly data: unknown
}

interface Options {
  readonly lastEventId?: string
  readonly streamMode?: ('run_modes' | 'lifecycle' | 'state_update')[]
}

/** Reads a thread's stream until a number of runs are done. Calls `begun` with the first event. */
async function read(threadId: string, runs: number, options: Options = {},
  begun = () => {}): Promise<Frame[]> {
  const leave = new AbortController()
  const seen: Frame[] = []
  const stream = server.client.threads.joinStream(threadId, { ...options, signal: leave.signal })
  try {
    for await (const frame of stream as AsyncIterable<Frame>) {
      seen.push(frame)
      begun()
      if (doneIn(seen) >= runs) break
    }
  } finally {
    leave.abort()
  }
  return seen
}

function doneIn(frames: readonly Frame[]): number {
  return frames.filter(({ event, data }) =>
    event === 'metadata' && (data as { status?: string }).status === 'run_done'
  ).length
}

const names = (frames: readonly Frame[]) => frames.map(({ event }) => event)

/** Two finished runs of the graph `steps`. */
async function twoRuns(): Promise<{ id: string; runIds: string[] }> {
  const { thread_id: id } = await server.client.threads.create()
  const runIds: string[] = []
  for (const streamMode of ['updates', 'values'] as const) {
    const run = await server.client.runs.create(id, 'steps', { input: { topic: 't' }, streamMode,
      streamResumable: true })
    await server.client.runs.join(id, run.run_id)
    runIds.push(run.run_id)
  }
  return { id, runIds }
}

describe('the stream of a thread', () => {
  it('has the last finished run, between two marks, for who asks for what there is', async () => {
    const { id, runIds } = await twoRuns()
    const frames = await read(id, 1, { lastEventId: '-' })
    expect(frames[0]).toMatchObject({ event: 'metadata',
      data: { run_id: runIds[1], attempt: 1, thread_id: id } })
    expect(new Set(names(frames.slice(1, -1)))).toEqual(new Set(['values']))
    expect(frames.at(-1)).toMatchObject({ event: 'metadata',
      data: { run_id: runIds[1], status: 'run_done' } })
  })

  it('goes on behind the last event that a client has seen', async () => {
    const { id } = await twoRuns()
    const frames = await read(id, 1, { lastEventId: '-' })
    for (const at of [0, 1, frames.length - 2]) {
      const rest = await read(id, 1, { lastEventId: frames[at]!.id! })
      expect(rest).toEqual(frames.slice(at + 1))
    }
  })

  it('goes on with the next run behind the end of one', async () => {
    const { id } = await twoRuns()
    const last = (await read(id, 1, { lastEventId: '-' })).at(-1)!
    const next = read(id, 1, { lastEventId: last.id! })
    const run = await server.client.runs.create(id, 'steps', { input: { topic: 't' },
      streamMode: 'updates' })
    const frames = await next
    expect(frames[0]!.data).toMatchObject({ run_id: run.run_id, attempt: 1 })
    expect(names(frames)).toContain('updates')
  })

  it('has all runs that come, one after another, also those that were queued', async () => {
    const { id } = await twoRuns()
    const last = (await read(id, 1, { lastEventId: '-' })).at(-1)!
    const following = read(id, 3, { lastEventId: last.id! })
    const runs = await Promise.all(
      [1, 2, 3].map(() =>
        server.client.runs.create(id, 'steps', { input: { topic: 't' }, streamMode: 'updates' })
      ),
    )
    const frames = await following
    const marks = frames.filter(({ event }) => event === 'metadata')
      .map(({ data }) => data as { run_id: string; status?: string })
    const ids = marks.filter(({ status }) => status === undefined).map(({ run_id }) => run_id)
    expect(new Set(ids)).toEqual(new Set(runs.map(({ run_id }) => run_id)))
    expect(marks.map(({ status }) => status ?? '')).toEqual(['', 'run_done', '', 'run_done', '',
      'run_done'])
    expect(new Set(frames.map(({ id: each }) => each)).size).toBe(frames.length)
  })

  it('shows only the marks, or the state after each run, to who asks for them', async () => {
    const { id, runIds } = await twoRuns()
    const marks = await read(id, 1, { lastEventId: '-', streamMode: ['lifecycle'] })
    expect(names(marks)).toEqual(['metadata', 'metadata'])
    const both = await read(id, 1, { lastEventId: '-', streamMode: ['lifecycle', 'state_update'] })
    expect(names(both)).toEqual(['metadata', 'state_update', 'metadata'])
    expect(both[1]!.data).toMatchObject({ values: { topic: 't' }, next: [],
      metadata: { run_id: runIds[1] } })
  })

  it('begins with what is new if no event is named', async () => {
    const { id } = await twoRuns()
    const abort = new AbortController()
    const { url } = server
    const response = await fetch(`${url}/threads/${id}/stream`, { signal: abort.signal })
    expect(response.headers.get('location')).toBe(`/threads/${id}/stream`)
    const run = await server.client.runs.create(id, 'steps', { input: { topic: 't' } })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('run_done')) text += (await reader.read()).value ?? ''
    expect([...text.matchAll(/"run_id":"([^"]+)","attempt"/g)].map(([, each]) => each))
      .toEqual([run.run_id])
    abort.abort()
  })

  it('ends when the thread is deleted, and does not exist before it', async () => {
    const { id } = await twoRuns()
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const ended = read(id, 9, { lastEventId: '-', streamMode: ['lifecycle'] }, resolve)
    // The request must come before the deletion, which has a connection of its own.
    await Promise.race([begun, ended])
    await server.client.threads.delete(id)
    expect(doneIn(await ended)).toBeLessThanOrEqual(1)
    await expect(read(id, 1)).rejects.toThrow('404')
  })
})
