/** The last event of a run's stream: it says that the run is over, and how it ended. */

import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { collectAll, say } from '../support/run-events.ts'
import type { Part } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

const newThread = async () => (await server.client.threads.create()).thread_id

async function streamed(graph: string, payload: object, thread?: string): Promise<Part[]> {
  const id = thread ?? await newThread()
  return collectAll(server.client.runs.stream(id, graph, payload))
}

/** A run that does not end by itself. */
const held = (id: string) =>
  server.client.runs.stream(id, 'held', { input: say(`hold ${gate().url}`) })

const runOf = ([first]: readonly Part[]) => (first!.data as { readonly run_id: string }).run_id
const namesOf = (parts: readonly Part[]) => parts.map(({ event }) => event)

describe('the stream of a run', () => {
  it('leaves the client nothing to ask when it ends', async () => {
    const asked: string[] = []
    const client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: {
      maxRetries: 0,
      fetch: (url: string, init: RequestInit) => {
        asked.push(`${init.method} ${new URL(url).pathname.split('/').at(-1)}`)
        return fetch(url, init)
      },
    } })
    const id = await newThread()
    const stream = client.runs.stream(id, 'echo', { input: { messages: [] } })
    expect((await collectAll(stream)).at(-1)).toMatchObject({ event: 'end' })
    expect(asked).toEqual(['POST stream'])
  })

  it('ends with its status, and again for whoever joins it later', async () => {
    const id = await newThread()
    const parts = await streamed('echo', { input: { messages: [] } }, id)
    const end = { event: 'end', data: { run_id: runOf(parts), status: 'success' } }
    expect(parts.at(-1)).toMatchObject(end)
    expect(namesOf(parts).filter((name) => name === 'end')).toHaveLength(1)
    const joined = await collectAll(server.client.runs.joinStream(id, runOf(parts), {
      lastEventId: '-1',
      streamMode: ['updates'],
    }))
    expect(joined.at(-1)).toEqual(parts.at(-1))
    const again = await collectAll(server.client.runs.joinStream(id, runOf(parts), {
      lastEventId: parts.at(-2)!.id!,
    }))
    expect(again).toEqual([parts.at(-1)])
  })

  it('names the error before its end', async () => {
    const parts = await streamed('failing', { input: {} })
    expect(namesOf(parts).slice(-2)).toEqual(['error', 'end'])
    expect(parts.at(-1)!.data).toMatchObject({ status: 'error' })
  })

  it('ends as interrupted if the run is cancelled', async () => {
    const id = await newThread()
    const parts: Part[] = []
    for await (const part of held(id)) {
      parts.push(part as Part)
      if (parts.length === 1) await server.client.runs.cancel(id, runOf(parts))
    }
    expect(parts.at(-1)).toMatchObject({ event: 'end', data: { status: 'interrupted' } })
  })

  it('ends as rollback if nothing is left of the run', async () => {
    const id = await newThread()
    const parts: Part[] = []
    for await (const part of held(id)) {
      parts.push(part as Part)
      if (parts.length > 1) continue
      await ask(server.url, 'POST',
        `/threads/${id}/runs/${runOf(parts)}/cancel?wait=true&action=rollback`)
    }
    expect(namesOf(parts).slice(-2)).toEqual(['error', 'end'])
    expect(parts.at(-1)!.data).toEqual({ run_id: runOf(parts), status: 'rollback' })
  })

  it('ends so without a thread as well', async () => {
    const parts = await collectAll(server.client.runs.stream(null, 'echo', {
      input: { messages: [] },
    }))
    expect(parts.at(-1)).toMatchObject({ event: 'end', data: { status: 'success' } })
  })
})
