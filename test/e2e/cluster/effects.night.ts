/**
 * Effects that happen once on three members, of which some are killed and some stand still. With
 * HEDDLE_KILLS=200 there are so many rounds, and not as many as a night has time for.
 */

import { setTimeout as pause } from 'node:timers/promises'

import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'

import { untilPlaced } from '../../bench/ownership-view.ts'
import { Chance } from '../../simulation/chance.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { clientOf } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { killLine, killSeed, killsMs, killTimes } from '../effects/kill-times.ts'
import { Orders } from '../effects/orders.ts'

const cassandra = await cassandraForTests()
const minutes = 0.4
/** Time for the start, and for a round that has begun, on a machine that does much else. */
const patienceMs = 480_000
const runs = 72
const slowMs = 1_500
/** Effects that have come when a member is cut off: the receiver still has most of them. */
const begun = 18
/** Longer than its session lives: others take its shards meanwhile. */
const stillMs = 30_000
/** One stands still in place of a death in the second round, and in each twentieth after it. */
const stopEvery = 20

async function cutOff(cluster: Cluster, victim: number, dies: boolean): Promise<void> {
  const member = cluster.members[victim]!
  if (dies) {
    await member.kill('SIGKILL')
    return member.restart()
  }
  member.pause()
  await pause(stillMs)
  member.wake()
  // It may end, because it was replaced.
  await Promise.race([member.exited().then(() => member.restart()), pause(5_000)])
}

describe.skipIf(!cassandra)('on three members,', () => {
  it(`kills and stops repeat no effect (HEDDLE_SEED=${killSeed})`, async () => {
    const chance = new Chance(killSeed)
    const place = newKeyspace(cassandra!)
    onTestFinished(() => dropKeyspace(place))
    const orders = await Orders.open(chance, slowMs)
    onTestFinished(() => orders.close())
    const cluster = await startCluster({ members: 3, cassandra: place, project: 'effects',
      args: oneWorker, env: { RECEIVER: orders.url } })
    onTestFinished(() => cluster.close())
    let rounds = 0
    const beganMs = performance.now()
    onTestFailed(() => console.log(`${killLine([orders], rounds, beganMs)}\n${cluster.story()}`))
    let stops = 0
    for (const round of killTimes([orders], minutes)) {
      await untilPlaced(cluster)
      const victim = chance.below(3)
      // A client of the victim would fail while it is gone.
      const clients = cluster.frontDoors.filter((_, i) => i !== victim).map((url) => clientOf(url))
      const placed = await orders.place(clients, runs, begun)
      await pause(chance.between(0, slowMs / 3))
      orders.cutNow()
      const dies = round % stopEvery !== 1
      if (!dies) stops++
      rounds++
      const back = cutOff(cluster, victim, dies)
      await orders.check(clients[0]!, placed)
      await back
    }
    console.log(`${killLine([orders], rounds, beganMs)}; ${stops} of them stood still`)
    // Few rounds may all have come too early, or too late.
    if (rounds < 5) return
    expect(orders.tally.again + orders.tally.questions).toBeGreaterThan(rounds)
  }, killsMs(minutes) + patienceMs)
})
