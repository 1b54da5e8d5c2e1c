/** A worker that has crons: each due time makes one run, whatever dies. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { Client, Thread } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import type { LoadWorker } from './worker.ts'

const minuteMs = 60_000
const cronsMax = 3

/** Milliseconds since 1970 between which a cron was created. */
interface Creation {
  readonly askedMs: number
  readonly answeredMs: number
}

/** Has a few crons that are due every minute. */
export class CronKeeper implements LoadWorker {
  readonly name = 'crons'
  readonly #mark = randomUUID()
  /** Acknowledged crons by id. */
  readonly #crons = new Map<string, Creation>()

  async act({ crons }: Client): Promise<void> {
    if (this.#crons.size === cronsMax) return void await pause(20)
    const askedMs = Date.now()
    const { cron_id: id } = await crons.create('echo', {
      schedule: '* * * * *',
      input: { messages: [{ role: 'user', content: 'tick' }] },
      metadata: { mark: this.#mark },
      onRunCompleted: 'keep',
    }) as unknown as { cron_id: string }
    this.#crons.set(id, { askedMs, answeredMs: Date.now() })
  }

  /** Due times while the server was down are made up for once, so none is missing for long. */
  async check(client: Client): Promise<void> {
    for (const [id, { askedMs, answeredMs }] of this.#crons) {
      const least = duesBetween(answeredMs, Date.now())
      await expect.poll(async () => (await firings(client, id)).length, { message: id })
        .toBeGreaterThanOrEqual(least)
      const fired = await firings(client, id)
      expect(fired.length, id).toBeLessThanOrEqual(duesBetween(askedMs, Date.now()))
      for (const { thread_id: threadId } of fired) {
        expect(await client.runs.list(threadId)).toHaveLength(1)
      }
    }
  }
}

/** The number of full minutes after one time, up to another. */
function duesBetween(afterMs: number, throughMs: number): number {
  return Math.floor(throughMs / minuteMs) - Math.floor(afterMs / minuteMs)
}

/** A cron without a thread makes one for each firing. */
function firings({ threads }: Client, cronId: string): Promise<Thread[]> {
  return threads.search({ metadata: { cron_id: cronId }, limit: 1_000 })
}
