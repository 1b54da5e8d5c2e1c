/** Kills while traces come in: what was acknowledged is there, and nothing is half visible. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, describe, expect, it } from 'vitest'

import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { TraceSender } from './trace-sender.ts'
import { workUntilDeath } from './worker.ts'

const senders = 6
const kills = 2

it(`${kills} kills lose no acknowledged span`, () => rounds(kills), 900_000)

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('on Cassandra', () => {
  const place = newKeyspace(cassandra!)
  afterAll(() => dropKeyspace(place), 120_000)

  it(`${kills} kills lose no acknowledged span`, () => rounds(kills, place), 1_800_000)
})

async function rounds(count: number, place?: CassandraKeyspace): Promise<void> {
  const server = await startServer({ project: 'conformance', args: oneWorker, cassandra: place })
  const [client, project] = [clientOf(server.url), `crash-${randomUUID()}`]
  const workers = Array.from({ length: senders },
    () => new TraceSender({ url: server.url, project, wholeRequests: place === undefined }))
  try {
    for (let kill = 1; kill <= count; kill += 1) {
      const died = new AbortController()
      const loops = Promise.all(
        workers.map((worker) => workUntilDeath(worker, client, died.signal)),
      )
      await Promise.race([pause(50 + Math.random() * 1_000), loops])
      await server.kill('SIGKILL')
      died.abort()
      await loops
      await server.restart()
      for (const worker of workers) await worker.check()
    }
    const spans = workers.flatMap((worker) => worker.spans)
    console.log(`${spans.length} spans were sent, and ${count} kills`)
    expect((await listed(server.url, project)).toSorted()).toEqual(spans.toSorted())
  } catch (error) {
    console.log(`The last that the server said:\n${server.output().slice(-4_000)}`)
    throw error
  } finally {
    await server.close()
  }
}

/** The ids of all spans of the project, page by page. */
async function listed(url: string, name: string): Promise<string[]> {
  const ask = async (path: string, init?: RequestInit) =>
    (await fetch(`${url}/api/v1${path}`, init)).json()
  const [project] = await ask(`/sessions?name=${name}`) as { id: string }[]
  const found: string[] = []
  for (let cursor: string | null = null;;) {
    const page = await ask('/runs/query', { method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session: [project!.id], select: ['id'], cursor }) }) as {
        runs: { id: string }[]
        cursors: { next: string | null }
      }
    found.push(...page.runs.map(({ id }) => id))
    cursor = page.cursors.next
    if (cursor === null) return found
  }
}
