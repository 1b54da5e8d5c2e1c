/** A worker that has crons: each due time makes one run, whatever dies. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { Client, Thread } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import type { LoadWorker } from './worker.ts'

const minuteMs = 60_000
const cronsMax = 3
/** A due time this recent may still be on its way. */
const freshMs = 10_000

/** Has a few crons that are due every minute. */
export class CronKeeper implements LoadWorker {
  readonly name = 'crons'
  readonly #mark = randomUUID()
  /** By the id of an acknowledged cron: when it was created, at the latest. */
  readonly #crons = new Map<string, number>()

  async act({ crons }: Client): Promise<void> {
    if (this.#crons.size === cronsMax) return void await pause(20)
    const { cron_id: id } = await crons.create('echo', {
      schedule: '* * * * *',
      input: { messages: [{ role: 'user', content: 'tick' }] },
      metadata: { mark: this.#mark },
      onRunCompleted: 'keep',
    }) as unknown as { cron_id: string }
    this.#crons.set(id, Date.now())
  }

  /** Due times while the server was down are made up for once, so none is missing. */
  async check(client: Client): Promise<void> {
    for (const [id, createdAtMs] of this.#crons) {
      const nowMs = Date.now()
      const fired = await firings(client, id)
      const due = Math.floor(nowMs / minuteMs) - Math.floor(createdAtMs / minuteMs)
      const isFresh = nowMs % minuteMs < freshMs
      expect(fired.length, `firings of ${id}`).toBeOneOf(isFresh ? [due - 1, due] : [due])
      for (const { thread_id: threadId } of fired) {
        expect(await client.runs.list(threadId)).toHaveLength(1)
      }
    }
  }
}

/** A cron without a thread makes one for each firing. */
function firings({ threads }: Client, cronId: string): Promise<Thread[]> {
  return threads.search({ metadata: { cron_id: cronId }, limit: 1_000 })
}
