/** Three members with rate limits, and counters that belong to one test. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'vitest'

import { actorKeyText, shardOf } from '../../../cluster/index.ts'
import type { ClusterStatus } from '../../../cluster/index.ts'
import { hashOf } from '../../../src/access/index.ts'
import { limitActorKey } from '../../../src/limits/index.ts'
import type { LimitOverride } from '../../../src/limits/limit-rows.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { ask } from '../../support/wire.ts'

export interface LimitedCluster extends Cluster {
  /** Which member counts a key's requests under that row, as a front door sees it. */
  counterOf(row: string, apiKey: string, door: number): Promise<number>
  /** How many requests the front doors let through since they could not reach their counter. */
  alone(row: string): Promise<number>
}

export async function startLimitedCluster(cassandra: CassandraForTests,
  overrides: Readonly<Record<string, LimitOverride>>): Promise<LimitedCluster> {
  const place = newKeyspace(cassandra)
  const folder = mkdtempSync(join(tmpdir(), 'heddle-limits-'))
  const file = join(folder, 'limits.json')
  writeFileSync(file, JSON.stringify(overrides))
  const cluster = await startCluster({ members: 3, cassandra: place, project: 'conformance',
    args: ['--limits', 'on', '--limit-overrides', file] })
  return {
    ...cluster,
    counterOf: async (row, apiKey, door) => {
      const key = limitActorKey({ row, who: hashOf(apiKey) })
      const statuses = await Promise.all(cluster.frontDoors.map((url) => statusOf(url)))
      const { shards } = statuses[door]!
      const owner = shards.find(({ shard }) => shard === shardOf(actorKeyText(key), 256))
      return statuses.findIndex((status) => status?.member.id === owner!.session)
    },
    alone: async (row) => {
      const counts = await Promise.all(cluster.frontDoors.map((url) => aloneAt(url, row)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    close: async () => {
      await cluster.close()
      await dropKeyspace(place)
      rmSync(folder, { recursive: true })
    },
  }
}

async function aloneAt(url: string, row: string): Promise<number> {
  const { body } = await ask(url, 'GET', '/metrics')
  const line = String(body).split('\n').find((each) =>
    each.includes(`row="${row}"`) && each.includes('fate="alone"')
  )
  expect(line).toBeDefined()
  return Number(line!.split(' ').at(-1))
}

/** Undefined if there is no answer. */
async function statusOf(url: string): Promise<ClusterStatus | undefined> {
  const answer = await fetch(`${url}/internal/cluster`, {
    headers: { 'x-api-key': 'the test itself' },
  }).catch(() => undefined)
  return answer?.ok ? await answer.json() as ClusterStatus : undefined
}
