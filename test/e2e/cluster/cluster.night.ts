/**
 * Three members under load: one is killed, one gets SIGTERM, and clients of the others continue.
 */

import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { oneWorker } from '../../support/server-process.ts'
import { tookMs } from '../../support/stillness.ts'
import { Load } from './load.ts'

const cassandra = await cassandraForTests()

async function threeMembers(): Promise<Cluster> {
  const place = newKeyspace(cassandra!)
  onTestFinished(() => dropKeyspace(place))
  const cluster = await startCluster({ members: 3, cassandra: place, project: 'conformance',
    args: oneWorker })
  onTestFinished(() => cluster.close())
  return cluster
}

/** How long a member may take to end after SIGTERM. */
const drainMs = 25_000

describe.skipIf(!cassandra)('a cluster of three', () => {
  it('loses nothing when a member is killed, and fails no request when one ends', async () => {
    const cluster = await threeMembers()
    const [killed, ended] = cluster.members
    const load = new Load(
      { frontDoors: cluster.frontDoors, threads: 12, seed: 1, paceMs: 200 },
    )
    onTestFailed(() => console.log(`${load.summary()}\n${cluster.story()}`))
    await load.resume(16)
    load.doors.close(0)
    await killed!.kill('SIGKILL')
    await load.resume(16)
    await killed!.restart()
    load.doors.reopen(0)
    await load.resume(16)
    load.doors.close(1)
    const reportedMs = performance.now()
    expect(await ended!.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(tookMs(reportedMs)).toBeLessThan(drainMs)
    await load.resume(16)
    await ended!.restart()
    load.doors.reopen(1)
    await load.resume(16)
    expect(await load.faults()).toEqual([])
    console.log(load.summary())
  }, 240_000)
})
