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
import { movedClock } from '../../support/moved-clock.ts'
import type { MovedClock } from '../../support/moved-clock.ts'
import { repeats } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'

const cassandra = await cassandraForTests()
const minute = 60_000
/** Far from hour changes and from the clock of this machine, early in a minute. */
const beginMs = Date.UTC(2031, 4, 5, 12, 0, 2)
/** Enough that every member owns some of them. */
const crons = 24
/** Longer than a fail-over takes on a busy machine. The next time must not become due meanwhile. */
const patience = { timeout: 50_000, interval: 500 }

// By day, the simulation shows the same.
describe.skipIf(!cassandra)('crons on three members', () => {
  let keyspace: CassandraKeyspace
  let cluster: Cluster
  let clock: MovedClock

  beforeAll(async () => {
    keyspace = newKeyspace(cassandra!)
    clock = await movedClock(beginMs)
    cluster = await startCluster({ members: 3, project: 'conformance', cassandra: keyspace,
      env: clock.env })
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await clock?.close()
    await dropKeyspace(keyspace)
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  it('have one run for each due time, whoever dies', async () => {
    const kills = repeats({ day: 4, night: 8 })
    const made = await Promise.all(Array.from({ length: crons }, async (_, index) => {
      const { crons: client } = clientOf(cluster.frontDoors[index % 3]!)
      return await client.create('echo', { schedule: '* * * * *', input: say('again'),
        onRunCompleted: 'keep' }) as unknown as Cron
    }))
    const fromMs = minuteAfter(clock.nowMs())
    let dueMs = fromMs
    for (let kill = 0; kill < kills; kill++) {
      dueMs = minuteAfter(clock.nowMs())
      await clock.set(dueMs - 1_500, cluster.members.map(({ pid }) => pid))
      // Around the due time, while runs are being made.
      await pause(dueMs - clock.nowMs() - 100 + Math.random() * 700)
      const member = cluster.members[kill % 3]!
      await member.kill('SIGKILL')
      const restarted = member.restart()
      const client = clientOf(cluster.frontDoors[(kill + 1) % 3]!)
      await Promise.all([restarted, ...made.map((cron) =>
        expect.poll(() =>
          statusAt(client, cron, dueMs), patience).toBe('success')
      )])
    }
    const client = clientOf(cluster.frontDoors[0]!)
    for (const cron of made) {
      const found = await runsOf(client, cron)
      const wanted = idsOf(cron, fromMs, dueMs)
      // Minutes may pass while crons are created, and while this looks.
      const others = [...idsOf(cron, beginMs, fromMs - 1), ...idsOf(cron, dueMs + 1, clock.nowMs())]
      expect(found.filter((id) => !others.includes(id))).toEqual(wanted.toSorted())
    }
  })
})

function minuteAfter(ms: number): number {
  return Math.ceil(ms / minute) * minute
}

function idAt({ cron_id: id }: Cron, dueMs: number): string {
  return runIdOf('local', id, dueMs)
}

/** Ids of the runs for the due times from one time to another. */
function idsOf(cron: Cron, fromMs: number, throughMs: number): string[] {
  const ids: string[] = []
  for (let ms = minuteAfter(fromMs); ms <= throughMs; ms += minute) ids.push(idAt(cron, ms))
  return ids
}

/** What became of the run of a due time, whose thread has the same id. */
async function statusAt({ runs }: Client, cron: Cron, dueMs: number): Promise<string> {
  const id = idAt(cron, dueMs)
  try {
    return (await runs.get(id, id)).status
  } catch (error) {
    return String(error)
  }
}

/** Ids of the runs of a cron, each of which has a thread of its own. */
async function runsOf({ threads, runs }: Client, { cron_id: id }: Cron): Promise<string[]> {
  const found = await threads.search({ metadata: { cron_id: id }, limit: 1_000 })
  const lists = await Promise.all(found.map(({ thread_id }) => runs.list(thread_id)))
  return lists.flat().map(({ run_id }) => run_id).toSorted()
}
