/** Three members that keep deployments in Cassandra, and what they say of a roll-out. */

import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { actorKeyText, defaultShards, shardOf } from '../../../cluster/index.ts'
import type { ClusterStatus } from '../../../cluster/index.ts'
import { isWhole } from '../../bench/ownership-view.ts'
import { until } from '../../bench/patience.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { openKeyMaker } from '../../support/keys.ts'
import { ask } from '../../support/wire.ts'
import { done, shopPath } from './shop.ts'

/** How far a roll-out is, or how it ended. */
export interface SeenRollout {
  readonly id: string
  readonly kind: string
  readonly revision: string
  readonly phase?: string
  readonly result?: string
  readonly reason?: string | null
  readonly members: readonly { readonly id: string; readonly state: string }[]
}

/** A deployment as the control API has it. */
export interface SeenDeployment {
  readonly active: string | null
  readonly env_version: number
  readonly rollout: SeenRollout | null
  readonly last_rollout: SeenRollout | null
}

/** An event of the shop. */
export interface SeenEvent {
  readonly seq: number
  readonly kind: string
  readonly phase?: string
  readonly active?: string | null
  readonly next?: { readonly revision: string } | null
}

export interface ShopCluster extends Cluster {
  readonly place: CassandraKeyspace
  readonly root: string
  /** The key of the tenant that owns the shop, and the one of another tenant. */
  readonly headers: Record<string, string>
  readonly others: Record<string, string>
  /** Resolves when all members that answer there see each other and have their shards. */
  whole(members?: number): Promise<void>
  /** Which member drives roll-outs. */
  driver(): Promise<number>
  /** Asks the control API for the shop through a front door. */
  shop(door: number): Promise<SeenDeployment>
  events(door: number): Promise<readonly SeenEvent[]>
}

const wholeMs = 120_000
const driverShard = shardOf(actorKeyText({ kind: 'catalog', tenant: '@', id: 'deployment' }),
  defaultShards)

/** Resolves when all members serve. */
export async function startShopCluster(cassandra: CassandraForTests): Promise<ShopCluster> {
  const place = newKeyspace(cassandra)
  const root = await mkdtemp(join(tmpdir(), 'heddle-shop-'))
  const secretsKey = join(root, 'secrets.key')
  writeFileSync(secretsKey, randomBytes(32), { mode: 0o600 })
  const cluster = await startCluster({ members: 3, cassandra: place, project: 'judging',
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' },
    args: ['--workers', '1', '--auth', 'keys', '--secrets-key', secretsKey] })
  const [headers, others] = await keysFor(place, root).catch(async (error: unknown) => {
    console.log(cluster.story())
    await cluster.close()
    throw error
  })
  const status = async (url: string) => {
    const answer = await ask(url, 'GET', '/internal/cluster', undefined, headers)
      .catch(() => undefined)
    return answer?.status === 200 ? answer.body as ClusterStatus : undefined
  }
  const all = () => Promise.all(cluster.frontDoors.map(status))
  return {
    ...cluster,
    place,
    root,
    headers,
    others,
    whole: async (members = 3) => {
      await until(wholeMs, 'a cluster in which every shard is where it is placed', async () => {
        const seen = (await all()).filter((one) => one !== undefined)
        return seen.length === members && seen.every((one) => isWhole(one, members)) || undefined
      }, 250).catch((error: unknown) => {
        console.log(cluster.story())
        throw error
      })
    },
    driver: async () =>
      await until(wholeMs, 'the driver of roll-outs', async () => {
        const seen = await all()
        const owner = seen.find((one) => one !== undefined)?.shards
          .find(({ shard }) => shard === driverShard)?.session
        const index = seen.findIndex((one) => one?.member.id === owner)
        return index < 0 ? undefined : index
      }),
    shop: async (door) => {
      const answer = await ask(cluster.frontDoors[door]!, 'GET', shopPath, undefined, headers)
      return done(answer) as SeenDeployment
    },
    events: async (door) => {
      const answer = await ask(cluster.frontDoors[door]!, 'GET', `${shopPath}/events?follow=false`,
        undefined, headers)
      return String(answer.body).split('\n').filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice('data: '.length)) as SeenEvent)
    },
    close: async () => {
      await cluster.close()
      await dropKeyspace(place)
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Headers of the owner of the shop, and of another tenant. */
async function keysFor(cassandra: CassandraKeyspace, dataDir: string) {
  const maker = await openKeyMaker({ dataDir, cassandra })
  try {
    return [{ 'x-api-key': await maker.make('acme', 'admin') }, {
      'x-api-key': await maker.make('rival', 'admin'),
    }] as const
  } finally {
    await maker.close()
  }
}
