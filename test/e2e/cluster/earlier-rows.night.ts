/** Members of this version beside members that write rows of runs behind the response. */

import { afterAll, afterEach, describe, expect, it, onTestFailed } from 'vitest'

import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { earlierProgram } from '../../support/earlier-program.ts'
import { eventually } from '../../support/eventually.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

/** The last program that marks threads and writes their rows later. */
const before = earlierProgram('2988e945')
if (before === undefined) console.log('The program of before is skipped: no history is here.')
const cassandra = await cassandraForTests()
const place = cassandra && newKeyspace(cassandra)
const servers: ServerProcess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
afterAll(async () => {
  before?.remove()
  if (place) await dropKeyspace(place)
})

const args = [...oneWorker, '--member-host', '127.0.0.1']
/** Threads of a member that is killed: some at rest for a moment, some busy. */
const count = 40
const laps = { laps: 3, pauseMs: 400 }

async function started(program?: string): Promise<ServerProcess> {
  const server = await startServer({ project: 'bench', cassandra: place!, args,
    ...program !== undefined && { program } })
  servers.push(server)
  return server
}

/** Runs that a member of either version has acknowledged, by thread. */
class Acknowledged {
  readonly #runs = new Map<string, string[]>()

  async begin(server: ServerProcess): Promise<void> {
    const { threads, runs } = clientOf(server.url)
    await Promise.all(Array.from({ length: count }, async (_, i) => {
      const { thread_id: thread } = await threads.create()
      const isShort = i % 2 === 0
      const { run_id: run } = await runs.create(thread, isShort ? 'echo' : 'laps', {
        input: isShort ? { messages: [{ role: 'user', content: 'hi' }] } : laps,
      })
      this.#runs.set(thread, [run])
    }))
  }

  /** Each run is listed and found by a search at once, and each ends well. */
  async expectKnown(server: ServerProcess): Promise<void> {
    const { threads, runs } = clientOf(server.url)
    const expected = [...this.#runs.values()].flat().toSorted()
    expect((await found(server)).toSorted()).toEqual(expected)
    for (const [thread, ids] of this.#runs) {
      const listed = await runs.list(thread)
      expect(listed.map(({ run_id: run }) => run)).toEqual(ids)
      for (const id of ids) await runs.join(thread, id)
      expect((await runs.list(thread)).map(({ status }) => status)).toEqual(
        ids.map(() => 'success'),
      )
      expect((await threads.get(thread)).status).toBe('idle')
    }
  }
}

/** Resolves with the ids of all runs. Until its shards have an owner, a search is refused. */
function found(server: ServerProcess): Promise<string[]> {
  return eventually(async () => {
    const response = await fetch(`${server.url}/runs/search`, { method: 'POST',
      headers: { 'content-type': 'application/json' }, body: JSON.stringify({ limit: 1_000 }) })
    if (!response.ok) throw new Error(`A search is refused: ${await response.text()}`)
    return (await response.json() as { run_id: string }[]).map(({ run_id: run }) => run)
  })
}

describe.skipIf(!cassandra || before === undefined)('a member of this version', () => {
  it('takes over what a killed member of 2988e945 has not written, and gives it back', async () => {
    onTestFailed(() => {
      for (const server of servers) console.log(server.output().slice(-2_000))
    })
    const acknowledged = new Acknowledged()
    const earlier = await started(before!.home)
    await acknowledged.begin(earlier)
    const now = await started()
    await acknowledged.begin(now)
    await earlier.kill('SIGKILL')
    await acknowledged.expectKnown(now)
    await earlier.restart()
    await acknowledged.begin(now)
    await acknowledged.begin(earlier)
    await now.kill('SIGKILL')
    await acknowledged.expectKnown(earlier)
    await now.restart()
    await earlier.kill('SIGTERM')
    await acknowledged.expectKnown(now)
  }, 600_000)
})
