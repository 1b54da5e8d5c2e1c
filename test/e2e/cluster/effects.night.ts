/** Effects that happen once on three members, of which some are killed and some stand still. */

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
import { Orders } from '../effects/orders.ts'

const cassandra = await cassandraForTests()
const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)
/** Rounds. In each, a member is killed or stands still while the runs of the round go on. */
const rounds = Number(process.env['HEDDLE_KILLS'] ?? 12)
const runs = 96
const slowMs = 1_500
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
  it(`${rounds} kills and stops repeat no effect (HEDDLE_SEED=${seed})`, async () => {
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
    for (let round = 0; round < rounds; round++) {
      await untilPlaced(cluster)
      const victim = chance.below(3)
      // A client of the victim would fail while it is gone.
      const clients = cluster.frontDoors.filter((_, i) => i !== victim).map((url) => clientOf(url))
      const placed = await orders.place(clients, runs)
      await pause(chance.between(0, slowMs))
      const dies = round % 4 !== 3
      if (!dies) stops++
      const back = cutOff(cluster, victim, dies)
      await orders.check(clients[0]!, placed)
      await back
    }
    const minutes = (performance.now() - beganMs) / 60_000
    console.log(`${rounds - stops} kills and ${stops} stops in ${minutes.toFixed(1)} minutes: ` +
      JSON.stringify(orders.tally))
    expect(orders.tally.cutOff).toBeGreaterThan(4 * rounds)
  }, rounds * 120_000)
})
