/** A worker that begins runs and looks them up in every way that there is after a crash. */

import { randomUUID } from 'node:crypto'

import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import { say } from '../../support/run-events.ts'
import { ask } from '../../support/wire.ts'
import type { JsonAnswer } from '../../support/wire.ts'
import { absent } from './chat-workers.ts'
import { settle } from './worker.ts'
import type { LoadWorker } from './worker.ts'

/** Runs of a thread before the next one begins. */
const runsEach = 6

/** Short runs, some of them waited for: their rows are written after their answers. */
export class RunKeeper implements LoadWorker {
  readonly name = 'run keeper'
  readonly #url: string
  readonly #keeper = randomUUID()
  #beganAt = new Date().toISOString()
  /** Runs that were acknowledged since the last check, by thread. */
  #threads = new Map<string, string[]>()
  #kept = 0
  /** A thread that was perhaps made, and one whose newest run has perhaps begun. */
  #doubt: { readonly thread?: string; readonly run?: string } = {}

  constructor(url: string) {
    this.#url = url
  }

  async act(client: Client): Promise<void> {
    const threadId = randomUUID()
    const runs: string[] = []
    this.#doubt = { thread: threadId }
    await client.threads.create({ threadId, metadata: { keeper: this.#keeper } })
    this.#threads.set(threadId, runs)
    for (let n = 0; n < runsEach; n++) {
      this.#doubt = { run: threadId }
      const run = await client.runs.create(threadId, 'echo', { input: say(`r${n}`) })
      runs.push(run.run_id)
      this.#doubt = {}
      if (n % 2 === 0) await client.runs.join(threadId, run.run_id)
    }
  }

  /** Right after the restart, and again when all runs have ended. */
  async check(client: Client): Promise<void> {
    const { thread } = this.#doubt
    if (thread !== undefined && await client.threads.get(thread).catch(absent)) this.#kept += 1
    this.#kept += this.#threads.size
    await this.#checkAll(client)
    for (const threadId of this.#threads.keys()) await settle(client, threadId)
    await this.#checkAll(client)
    this.#threads = new Map()
    this.#doubt = {}
    this.#beganAt = new Date().toISOString()
  }

  async #checkAll(client: Client): Promise<void> {
    const metadata = { keeper: this.#keeper }
    expect(await client.threads.count({ metadata })).toBe(this.#kept)
    const ids = [...this.#threads.keys()]
    const threads = ids.length === 0 ? [] : await client.threads.search({ ids, limit: 1_000 })
    expect(threads.map(({ thread_id }) => thread_id).toSorted()).toEqual(ids.toSorted())
    const found = await this.#search()
    for (const [threadId, runs] of this.#threads) {
      const listed = await client.runs.list(threadId, { limit: 1_000 })
      this.#compare(threadId, runs, listed.map(({ run_id }) => run_id))
      this.#compare(threadId, runs, found.get(threadId) ?? [])
      for (const runId of runs) await client.runs.get(threadId, runId)
    }
  }

  /** None is missing, and none was invented. */
  #compare(threadId: string, runs: readonly string[], found: readonly string[]): void {
    expect(runs.filter((runId) => !found.includes(runId))).toEqual([])
    const others = found.filter((runId) => !runs.includes(runId))
    expect(others.length).toBeLessThanOrEqual(this.#doubt.run === threadId ? 1 : 0)
  }

  /** Runs by thread, of all threads, as a search finds them page by page. */
  async #search(): Promise<ReadonlyMap<string, string[]>> {
    const found = new Map<string, string[]>()
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { status, body, headers } = await this.#askTwice({ limit: 1_000,
        created_after: this.#beganAt, ...cursor && { cursor } })
      expect({ status, ...status !== 200 && { body } }).toEqual({ status: 200 })
      for (const run of body as { run_id: string; thread_id: string }[]) {
        found.set(run.thread_id, [...found.get(run.thread_id) ?? [], run.run_id])
      }
      cursor = headers.get('x-pagination-cursor')
    }
    return found
  }

  /** Asks again after 503, as the client does in all other calls: the store may stand still. */
  async #askTwice(body: object): Promise<JsonAnswer> {
    const first = await ask(this.#url, 'POST', '/runs/search', body)
    return first.status === 503 ? ask(this.#url, 'POST', '/runs/search', body) : first
  }
}
