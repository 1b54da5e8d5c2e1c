/** Effects that happen once on three members, of which some are killed and some stand still. */

import { setTimeout as pause } from 'node:timers/promises'

import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'

import { untilPlaced } from '../../bench/ownership-view.ts'
import { Chance } from '../../simulation/chance.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { timesWithin } from '../../support/repeats.ts'
import { clientOf } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { Orders } from '../effects/orders.ts'

const cassandra = await cassandraForTests()
const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)
/** Rounds. In each, a member is killed or stands still while the runs of the round go on. */
const roundsMax = Number(process.env['HEDDLE_KILLS'] ?? 200)
/** Minutes after which no further one is begun. */
const minutesMax = 20
/** Time for the start, and for a round that has begun, on a machine that does much else. */
const patienceMs = 480_000
const runs = 96
const slowMs = 3_000
/** Effects that have come when a member is cut off: the receiver still has most of them. */
const begun = 24
/** Longer than its session lives: others take its shards meanwhile. */
const stillMs = 30_000

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
  it(`${roundsMax} kills and stops repeat no effect (HEDDLE_SEED=${seed})`, async () => {
    const chance = new Chance(seed)
    const place = newKeyspace(cassandra!)
    onTestFinished(() => dropKeyspace(place))
    const orders = await Orders.open(chance, slowMs)
    onTestFinished(() => orders.close())
    const cluster = await startCluster({ members: 3, cassandra: place, project: 'effects',
      args: oneWorker, env: { RECEIVER: orders.url } })
    onTestFinished(() => cluster.close())
    onTestFailed(() => console.log(`${JSON.stringify(orders.tally)}\n${cluster.story()}`))
    const beganMs = performance.now()
    let stops = 0
    let rounds = 0
    for (const round of timesWithin(roundsMax, minutesMax)) {
      rounds++
      await untilPlaced(cluster)
      const victim = chance.below(3)
      // A client of the victim would fail while it is gone.
      const clients = cluster.frontDoors.filter((_, i) => i !== victim).map((url) => clientOf(url))
      const placed = await orders.place(clients, runs, begun)
      await pause(chance.between(0, slowMs / 3))
      orders.cutNow()
      const dies = round % 4 !== 3
      if (!dies) stops++
      const back = cutOff(cluster, victim, dies)
      await orders.check(clients[0]!, placed)
      await back
    }
    const minutes = (performance.now() - beganMs) / 60_000
    console.log(`${rounds - stops} kills and ${stops} stops in ${minutes.toFixed(1)} minutes: ` +
      JSON.stringify(orders.tally))
    expect(orders.tally.cutOff).toBeGreaterThan(rounds)
  }, minutesMax * 60_000 + patienceMs)
})
