/** Crons on three members, one of which is killed at each due time: every time has one run. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Cron } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { runIdOf } from '../../../src/crons/index.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { isNight, repeats } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'

const cassandra = await cassandraForTests()
const minute = 60_000
/** Enough that every member owns some of them. */
const crons = 24
/** Longer than a fail-over takes on a busy machine. */
const patienceMs = 45_000

// Each kill takes a minute of real time. By day, the simulation shows the same.
describe.skipIf(!cassandra || !isNight)('crons on three members', () => {
  let keyspace: CassandraKeyspace
  let cluster: Cluster

  beforeAll(async () => {
    keyspace = newKeyspace(cassandra!)
    cluster = await startCluster({ members: 3, project: 'conformance', cassandra: keyspace })
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await dropKeyspace(keyspace)
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  it('have one run for each due time, whoever dies', async () => {
    const kills = repeats({ day: 4, night: 20 })
    const made = await Promise.all(Array.from({ length: crons }, async (_, index) => {
      const { crons: client } = clientOf(cluster.frontDoors[index % 3]!)
      return await client.create('echo', { schedule: '* * * * *', input: say('again'),
        onRunCompleted: 'keep' }) as unknown as Cron
    }))
    const fromMs = Math.ceil(Date.now() / minute) * minute
    let dueMs = fromMs
    for (let kill = 0; kill < kills; kill++, dueMs += minute) {
      // Around the due time, while runs are being made.
      await pause(dueMs - Date.now() - 100 + Math.random() * 700)
      const member = cluster.members[kill % 3]!
      await member.kill('SIGKILL')
      await pause(2_000)
      await member.restart()
    }
    await pause(dueMs - Date.now() + 5_000)
    const client = clientOf(cluster.frontDoors[0]!)
    for (const cron of made) {
      const wanted = idsOf(cron, fromMs, dueMs)
      const found = async () => {
        // Minutes may pass while crons are created, and while this looks.
        const others = [...idsOf(cron, fromMs - 2 * minute, fromMs - minute),
          ...idsOf(cron, dueMs + minute, Date.now())]
        return (await runsOf(client, cron)).filter((id) => !others.includes(id))
      }
      await expect.poll(found, { timeout: patienceMs }).toEqual(wanted.toSorted())
    }
  }, 1_800_000)
})

/** Ids of the runs for the due times from one to another. */
function idsOf({ cron_id: id }: Cron, fromMs: number, throughMs: number): string[] {
  const ids: string[] = []
  for (let ms = fromMs; ms <= throughMs; ms += minute) ids.push(runIdOf('local', id, ms))
  return ids
}

/** Ids of the runs of a cron, each of which has a thread of its own. */
async function runsOf({ threads, runs }: Client, { cron_id: id }: Cron): Promise<string[]> {
  const found = await threads.search({ metadata: { cron_id: id }, limit: 1_000 })
  const lists = await Promise.all(found.map(({ thread_id }) => runs.list(thread_id)))
  return lists.flat().map(({ run_id }) => run_id).toSorted()
}
