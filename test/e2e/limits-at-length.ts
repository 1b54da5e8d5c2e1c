/** Limits over three members for long: undisturbed, and while counters are killed. */

import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import type { CassandraForTests } from '../support/cassandra.ts'
import { isNight } from '../support/repeats.ts'
import { Hammer, mostWithin } from './cluster/hammer.ts'
import { startLimitedCluster } from './cluster/limited-cluster.ts'

const kills = 3
const strikeMs = 120_000

export function describeLimitsAtLength(cassandra: CassandraForTests | undefined): void {
  // The suite has both in less time, cluster/limits.test.ts.
  describe.skipIf(!cassandra || !isNight)('a cluster of three', () => {
    it('lets through 99 % of the default limit at five times its rate, and no more', async () => {
      const cluster = await startLimitedCluster(cassandra!, {})
      onTestFinished(() => cluster.close())
      onTestFailed(() => console.log(cluster.story()))
      const hammer = new Hammer({ frontDoors: cluster.frontDoors, method: 'GET',
        path: '/api/nothing', headers: { 'x-api-key': 'hot' } })
      onTestFinished(() => hammer.close())
      await hammer.strike(500, 30_000)
      const { admitted, answers } = hammer
      const [most, alone] = [mostWithin(10_000, admitted), await cluster.alone('default-key')]
      console.log(`${admitted.length} let through of ${answers.length}, at most ` +
        `${most} within 10 s, ${alone} without the counter`)
      expect(most).toBeLessThanOrEqual(1_000 + alone)
      expect(admitted.length).toBeGreaterThanOrEqual(0.99 * 3_000)
    })

    it('keeps the limit of a durable row, whichever of its counters is killed', async () => {
      const limit = { count: 200, intervalSeconds: 30 }
      const cluster = await startLimitedCluster(cassandra!, { 'deletion-key': limit })
      onTestFinished(() => cluster.close())
      onTestFailed(() => console.log(cluster.story()))
      const hammer = new Hammer({ frontDoors: cluster.frontDoors, method: 'DELETE',
        path: '/api/v1/sessions/x', headers: { 'x-api-key': 'lasting' } })
      onTestFinished(() => hammer.close())
      const hammering = hammer.strike(5 * limit.count / limit.intervalSeconds, strikeMs)
      let door = 0
      for (let killed = 0; killed < kills; killed += 1) {
        await hammer.strike(1, 10_000)
        const counter = await cluster.counterOf('deletion-key', 'lasting', door)
        hammer.closeDoor(counter)
        await cluster.members[counter]!.kill('SIGKILL')
        door = (counter + 1) % 3
        await hammer.strike(1, 10_000)
        await cluster.members[counter]!.restart()
        hammer.openDoor(counter)
      }
      await hammering
      const { admitted } = hammer
      console.log(`${admitted.length} let through of ${hammer.answers.length}, at most ` +
        `${mostWithin(30_000, admitted)} within 30 s, ${kills} counters killed`)
      expect(mostWithin(30_000, admitted)).toBeLessThanOrEqual(limit.count)
      // It opens again after each kill, instead of staying closed.
      expect(admitted.length).toBeGreaterThan(1.5 * limit.count)
    })
  })
}
