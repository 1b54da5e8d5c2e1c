/** Limits over three members: a key's limit holds across all of them, also when one is killed. */

import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { cassandraForTests } from '../../support/cassandra.ts'
import { tookMs } from '../../support/stillness.ts'
import { Hammer, mostWithin } from './hammer.ts'
import type { HammerOptions } from './hammer.ts'
import { startLimitedCluster } from './limited-cluster.ts'
import type { LimitedCluster } from './limited-cluster.ts'
import { eventsUntil, leftOf, membersAt } from './shown-cluster.ts'

const cassandra = await cassandraForTests()

const [hot, durable] = ['default-key', 'generate-key'] as const
const limits = { [hot]: { count: 200, intervalSeconds: 4 },
  [durable]: { count: 20, intervalSeconds: 30 } }

function hammerOn(cluster: LimitedCluster, target: Omit<HammerOptions, 'frontDoors'>): Hammer {
  const hammer = new Hammer({ frontDoors: cluster.frontDoors, ...target })
  onTestFinished(() => hammer.close())
  return hammer
}

describe.skipIf(!cassandra)('a cluster of three', () => {
  it('lets through what a limit allows and no more, even if its counter is killed', async () => {
    const cluster = await startLimitedCluster(cassandra!, limits)
    onTestFinished(() => cluster.close())
    onTestFailed(() => console.log(cluster.story()))

    // Five times the limit, for two windows.
    const { count, intervalSeconds } = limits[hot]
    const everywhere = hammerOn(cluster, { method: 'GET', path: '/api/nothing',
      headers: { 'x-api-key': 'hot' } })
    await everywhere.strike(5 * count / intervalSeconds, 2_000 * intervalSeconds)
    const { admitted } = everywhere
    const most = mostWithin(intervalSeconds * 1_000, admitted)
    // On a machine that stands still for seconds, a front door may do without its counter.
    const alone = await cluster.alone(hot)
    console.log(`${admitted.length} let through of ${everywhere.answers.length}, at most ` +
      `${most} within ${intervalSeconds} s, ${alone} without the counter`)
    expect(most).toBeLessThanOrEqual(count + alone)
    expect(admitted.length).toBeGreaterThanOrEqual(0.99 * 2 * count)

    // Uses half of a limit whose counter then dies; the other half must be left.
    const lasting = hammerOn(cluster, { method: 'POST', path: '/api/generate',
      headers: { 'x-api-key': 'lasting' } })
    for (let asked = 0; asked < 10; asked += 1) await lasting.once()
    expect(lasting.admitted).toHaveLength(10)
    // Every front door shows the use of the one counter, and what all members say.
    for (const url of cluster.frontDoors) {
      expect(await leftOf(url, durable, 'lasting')).toBe(limits[durable].count - 10)
      expect((await membersAt(url)).filter(({ version }) => version !== null)).toHaveLength(3)
    }
    const counter = await cluster.counterOf(durable, 'lasting', 0)
    lasting.closeDoor(counter)
    const witness = cluster.frontDoors[(counter + 1) % 3]!
    const seen = eventsUntil(witness, /event: gone[^]*event: moved/)
    await seen.opened
    await cluster.members[counter]!.kill('SIGKILL')
    const killedMs = performance.now()
    while ((await lasting.once()).status !== 429) {
      expect(tookMs(killedMs)).toBeLessThan(20_000)
    }
    await lasting.strike(50, 1_000)
    // The window of the first request has not ended yet.
    expect(performance.now() - lasting.answers[0]!.sentMs)
      .toBeLessThan(limits[durable].intervalSeconds * 1_000)
    expect(lasting.admitted.length).toBeLessThanOrEqual(limits[durable].count)
    expect(await seen.text).toMatch(/^event: cluster\n/)
    const shown = await membersAt(witness)
    expect(shown.map(({ state }) => state).toSorted()).toEqual(['gone', 'serving', 'serving'])
    // A permit granted to a request that no longer waited is lost.
    expect(lasting.admitted.length).toBeGreaterThan(limits[durable].count / 2)
    console.log(`${lasting.admitted.length} let through of ${lasting.answers.length}`)
    expect(await cluster.counterOf(durable, 'lasting', (counter + 1) % 3)).not.toBe(counter)
  })
})
