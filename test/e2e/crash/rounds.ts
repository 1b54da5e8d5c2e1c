/** Rounds of load, SIGKILL at a random moment, restart, and a check of everything. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { Asker, Queuer, Waiter } from './chat-workers.ts'
import { CronKeeper } from './cron-keeper.ts'
import { Rememberer } from './item-worker.ts'
import { Copier, Editor, Keeper } from './record-workers.ts'
import { RunKeeper } from './run-keeper.ts'
import { Streamer } from './stream-worker.ts'
import { ThreadFollower } from './thread-follower.ts'
import { workUntilDeath } from './worker.ts'
import type { LoadWorker } from './worker.ts'

export interface CrashPlan {
  readonly kills: number
  /** The same seed kills at the same moments, as far as the machine allows. */
  readonly seed: number
  /** Where the server keeps its threads, if not in its data folder. */
  readonly cassandra?: CassandraKeyspace
}

/** Resolves if every acknowledged write was there after each kill; rejects otherwise. */
export async function crashRounds({ kills, seed, cassandra }: CrashPlan): Promise<void> {
  const random = randomOf(seed)
  const scratch = await mkdtemp(join(tmpdir(), 'heddle-crash-'))
  const file = join(scratch, 'executions')
  await writeFile(file, '')
  const server = await startServer({ project: 'conformance', cassandra })
  try {
    const client = clientOf(server.url)
    const workers = [...workersOf(file), new CronKeeper(), new RunKeeper(server.url),
      new ThreadFollower(server.url, file)]
    for (let kill = 1; kill <= kills; kill += 1) {
      // Some kills come while the server still resumes what the last one interrupted.
      const again = kill < kills && random() < 0.25
      if (again) kill += 1
      await round(server, client, workers, { loadMs: 50 + random() * 1_500, again })
    }
  } catch (error) {
    console.log(`The last that the server said:\n${server.output().slice(-4_000)}`)
    throw error
  } finally {
    await server.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Clients of every kind; streamed runs leave a line for each step in the file. */
export const workersOf = (file: string): LoadWorker[] => [
  new Waiter(),
  new Waiter(),
  new Queuer(),
  new Asker(),
  new Editor(),
  new Copier(),
  new Keeper(),
  new Rememberer(),
  new Rememberer(),
  new Streamer(file, false),
  new Streamer(file, false),
  new Streamer(file, true),
]

interface Round {
  readonly loadMs: number
  readonly again: boolean
}

async function round(server: ServerProcess, client: Client, workers: readonly LoadWorker[],
  { loadMs, again }: Round): Promise<void> {
  const died = new AbortController()
  const loops = workers.map((worker) => workUntilDeath(worker, client, died.signal))
  const failed = Promise.all(loops)
  await Promise.race([pause(loadMs), failed])
  const killedAtMs = performance.now()
  await server.kill('SIGKILL')
  died.abort()
  await server.restart()
  if (again) {
    await server.kill('SIGKILL')
    await server.restart()
  }
  for (const { atMs, reason } of await failed) {
    if (atMs < killedAtMs) throw new Error('a connection broke before the kill', { cause: reason })
  }
  for (const worker of workers) await worker.check(client)
  // A cron may be due at any moment.
  await expect.poll(() => client.threads.search({ status: 'busy', select: ['thread_id'] }))
    .toEqual([])
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
