/**
 * Bursts of honest runs at length: nodes of 10 ms to 2 s, of one tenant beside another, on one
 * server, three members, and a deployment.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { burstOf, waitFor, workersLost } from '../support/burst.ts'
import type { Sender } from '../support/burst.ts'
import { startCluster } from '../support/cluster.ts'
import type { Cluster } from '../support/cluster.ts'
import { openKeyMaker } from '../support/keys.ts'
import { useServer } from '../support/server.ts'

const cassandra = await cassandraForTests()
const minutes = 60_000
const patience = { timeout: 10 * minutes }
const args = ['--workers', '2', '--auth', 'keys']
const kinds = [10, 150, 2_000]

/** Lengths of nodes: `count` runs of one node each. */
const alike = (count: number, ms: number) => Array.from({ length: count }, () => [ms])
const mixed = (count: number) =>
  Array.from({ length: count }, (_, index) => [kinds[index % 20 === 0 ? 2 : index % 2]!])

/** Milliseconds of runs one after another, each awaited: what they cost without a burst. */
async function oneAfterAnother(lengths: readonly (readonly number[])[],
  sender: Sender): Promise<number> {
  const kindsOfThem = new Set(lengths.map(([ms]) => ms!))
  const cost = new Map<number, number>()
  for (const ms of kindsOfThem) {
    const tries = [await waitFor(sender, ms), await waitFor(sender, ms)]
    cost.set(ms, Math.min(...tries))
  }
  return lengths.reduce((sum, [ms]) => sum + cost.get(ms!)!, 0)
}

/** Expects that a burst of one tenant is done, each node once, and hardly holds up the other. */
async function expectFair(lengths: readonly (readonly number[])[], one: readonly Sender[],
  other: Sender): Promise<void> {
  await Promise.all([...one, other].map((sender) => waitFor(sender, 5)))
  const aloneMs = await waitFor(other, 5)
  const inOrderMs = await oneAfterAnother(lengths, one[0]!)
  const seen = await burstOf(lengths, one, other)
  const count = lengths.length
  expect(seen).toMatchObject({ ended: count, begun: count, nodes: count })
  const nodeMs = Math.max(...lengths.flat())
  // What a busy machine is late with is not the burst's.
  expect(seen.besideMs).toBeLessThan(2 * aloneMs + 2 * nodeMs + 500)
  expect(seen.ms).toBeLessThan(inOrderMs / 0.9)
}

describe('on one server', () => {
  const server = useServer({ project: 'computing', args })
  let [one, other]: Sender[] = []
  beforeAll(async () => {
    const keys = await openKeyMaker(server.place)
    const senderOf = async (tenant: string): Promise<Sender> => ({ url: server.url,
      headers: { 'x-api-key': await keys.make(tenant) } })
    ;[one, other] = [await senderOf('one'), await senderOf('other')]
    await keys.close()
  })

  it.each([
    ['200 runs of 150 ms', alike(200, 150)],
    ['400 runs of 10 ms', alike(400, 10)],
    ['20 runs of 2 s', alike(20, 2_000)],
    ['200 runs of 10 ms to 2 s', mixed(200)],
  ])('%s of one tenant hold up no other', patience, async (_name, lengths) => {
    await expectFair(lengths, [one!], other!)
    expect(await workersLost(server.url)).toBe(0)
  })

  it('20 runs of 20 nodes lose no worker, and hold up another by few of them', patience,
    async () => {
      const lengths = Array.from({ length: 20 }, () => Array.from({ length: 20 }, () => 100))
      const seen = await burstOf(lengths, [one!], other!)
      expect(seen).toMatchObject({ ended: 20, begun: 400, nodes: 400 })
      // A run that never waits keeps its loop to its end: two seconds of nodes.
      const runMs = 20 * 100
      expect(seen.besideMs).toBeLessThan(2 * runMs + 500)
      expect(await workersLost(server.url)).toBe(0)
    })
})

describe.skipIf(!cassandra)('on three members', () => {
  let cluster: Cluster
  let keyspace: CassandraKeyspace
  let [one, other]: Sender[][] = []
  beforeAll(async () => {
    keyspace = newKeyspace(cassandra!)
    cluster = await startCluster({ members: 3, cassandra: keyspace, project: 'computing', args })
    const keys = await openKeyMaker({ dataDir: '', cassandra: keyspace })
    const sendersOf = async (tenant: string) => {
      const headers = { 'x-api-key': await keys.make(tenant) }
      return cluster.frontDoors.map((url): Sender => ({ url, headers }))
    }
    ;[one, other] = [await sendersOf('one'), await sendersOf('other')]
    await keys.close()
  }, 5 * minutes)
  afterAll(async () => {
    await cluster.close()
    await dropKeyspace(keyspace)
  })

  it('200 runs of 10 ms to 2 s of one tenant hold up no other', patience, async () => {
    await expectFair(mixed(200), one!, other![0]!)
    const lost = await Promise.all(cluster.frontDoors.map(workersLost))
    expect(lost).toEqual([0, 0, 0])
  })
})
