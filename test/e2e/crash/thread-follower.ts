/** A worker that follows a thread by protocol v2: what it saw has the same ids after a crash. */

import { randomUUID } from 'node:crypto'

import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import { openEvents } from '../../support/thread-events.ts'
import type { EventSeen } from '../../support/thread-events.ts'
import { absent } from './chat-workers.ts'
import { settle } from './worker.ts'
import type { LoadWorker } from './worker.ts'

const stepCount = 20
const allSteps = Array.from({ length: stepCount }, (_, index) => index + 1)

/** Starts runs of twenty supersteps, and follows their thread from before the first. */
export class ThreadFollower implements LoadWorker {
  readonly name = 'events'
  readonly #url: string
  readonly #file: string
  #threadId = ''
  #seen: EventSeen[] = []
  #running = false

  constructor(url: string, file: string) {
    this.#url = url
    this.#file = file
  }

  async act(_client: Client, died: AbortSignal): Promise<void> {
    this.#threadId = randomUUID()
    this.#seen = []
    this.#running = true
    const stream = openEvents(this.#url, this.#threadId, { signal: died })
    await this.#start()
    for await (const event of stream) {
      this.#seen.push(event)
      if (isEnd(event)) break
    }
    if (died.aborted) return
    this.#running = false
    expectWhole(this.#seen)
  }

  async check(client: Client): Promise<void> {
    if (!this.#running) return
    this.#running = false
    if (await client.threads.get(this.#threadId).catch(absent) === undefined) return
    await settle(client, this.#threadId)
    if ((await client.runs.list(this.#threadId)).length === 0) return
    const all: EventSeen[] = []
    for await (const event of openEvents(this.#url, this.#threadId)) {
      all.push(event)
      if (isEnd(event)) break
    }
    expectWhole(all)
    const places = new Map(all.map((event) => [event.event_id, event]))
    for (const event of this.#seen.filter(isDurable)) {
      expect(places.get(event.event_id)).toEqual(event)
    }
    const last = this.#seen.at(-1)?.seq ?? 0
    const rest: EventSeen[] = []
    for await (const event of openEvents(this.#url, this.#threadId, { since: last })) {
      rest.push(event)
      if (isEnd(event)) break
    }
    expect(rest).toEqual(all.filter(({ seq }) => seq > last))
  }

  async #start(): Promise<void> {
    const input = { file: this.#file, tag: this.#threadId, steps: stepCount, pauseMs: 10 }
    const response = await fetch(`${this.#url}/threads/${this.#threadId}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method: 'run.start',
        params: { assistant_id: 'ledger', input, config: { recursion_limit: 100 } } }),
    })
    expect(await response.json()).toMatchObject({ type: 'success' })
  }
}

function isEnd({ method, params: { namespace, data } }: EventSeen): boolean {
  const { event } = data as { event?: string }
  return method === 'lifecycle' && namespace.length === 0 && event === 'completed'
}

/** Events that are in the log before they are sent. */
function isDurable({ method }: EventSeen): boolean {
  return method === 'values' || method === 'checkpoints' || method === 'lifecycle'
}

/** Each superstep once, in order, with rising numbers and ids of its own. */
function expectWhole(events: readonly EventSeen[]): void {
  const seqs = events.map(({ seq }) => seq)
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  expect(new Set(events.map(({ event_id: id }) => id)).size).toBe(events.length)
  const done = events.filter(({ method, params }) =>
    method === 'values' && params.namespace.length === 0
  ).map(({ params }) => (params.data as { done?: number[] }).done?.length ?? 0)
  expect([...new Set(done)].filter((count) => count > 0)).toEqual(allSteps)
}
