/** Billing records in Cassandra of a server that is killed while runs begin and end. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { BillingRow } from '../../../src/billing/index.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { serverProgram } from '../../../scripts/server-program.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { repeats } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const cassandra = await cassandraForTests()
const kills = repeats({ day: 2, night: 3 })
const runsEach = 20

describe.skipIf(!cassandra)('a server on Cassandra that bills', () => {
  let place: CassandraKeyspace
  let server: ServerProcess
  beforeAll(async () => {
    place = newKeyspace(cassandra!)
    server = await startServer({ project: 'conformance', cassandra: place,
      args: ['--billing', 'on', '--member-host', '127.0.0.1', ...oneWorker] })
  })
  afterAll(async () => {
    await server.close()
    await dropKeyspace(place)
  })

  async function recordsOf(day: string): Promise<BillingRow[]> {
    const { stdout } = await promisify(execFile)(process.execPath, [serverProgram, 'billing',
      '--json', '--tenant', 'local', '--day', day, '--store', 'cassandra', '--keyspace',
      place.keyspace, '--contact-points', place.contactPoints.join(','), '--local-datacenter',
      place.dataCenter])
    return JSON.parse(stdout) as BillingRow[]
  }

  it('has one record per run, equal to what the run shows, however often it is killed',
    async () => {
      const { runs, threads } = clientOf(server.url)
      const made: { readonly threadId: string; readonly runId: string }[] = []
      for (let kill = 0; kill < kills; kill++) {
        const ids = await Promise.all(Array.from({ length: runsEach }, async () => {
          const { thread_id: threadId } = await threads.create()
          return threadId
        }))
        const started = await Promise.all(ids.map(async (threadId) => {
          const { run_id: runId } = await runs.create(threadId, 'echo', { input: say('hello') })
          return { threadId, runId }
        }))
        made.push(...started)
        await runs.join(started[0]!.threadId, started[0]!.runId)
        await server.kill('SIGKILL')
        await server.restart()
      }
      await Promise.all(made.map(({ threadId, runId }) => runs.join(threadId, runId)))
      const seen = await Promise.all(made.map(async ({ threadId, runId }) => {
        const { status, updated_at: endedAt } = await runs.get(threadId, runId)
        return { threadId, runId, status, endedMs: Date.parse(endedAt) }
      }))
      const days = new Set(seen.map(({ endedMs }) => new Date(endedMs).toISOString().slice(0, 10)))
      const records = (await Promise.all([...days].map(recordsOf))).flat()
      const byRun = <Each extends { readonly runId: string }>(all: readonly Each[]) =>
        all.toSorted((a, b) => a.runId < b.runId ? -1 : 1)
      expect(
        byRun(
          records.map(({ threadId, runId, status, endedMs }) => ({ threadId, runId, status,
            endedMs })
          ),
        ),
      ).toEqual(byRun(seen))
      expect(records.every(({ startedMs, endedMs }) => startedMs! <= endedMs)).toBe(true)
    })
})
