/** The list of changes of the life of spans, which members finish for each other. */

import { expect, it } from 'vitest'

import type { DocumentPort } from '../../../../../src/platform/index.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { LifeChanges } from '../../../../../src/store/cassandra/platform/lives/life-changes.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { memoryDocuments } from '../../../../support/memory-documents.ts'

const [tenant, project] = ['t', '00000000-0000-4000-8000-000000000001']
const minuteMs = 60_000

/** Members over one list. Each rewrite of a bucket is noted, with its life. */
class Cluster {
  readonly env = virtualEnv(Date.UTC(2026, 10, 26))
  readonly documents: DocumentPort = memoryDocuments()
  readonly rewrites: string[] = []
  failures = 0

  member(name: string): LifeChanges {
    return new LifeChanges({ documents: this.documents, env: this.env, touch: async () => {},
      connection: this.#connection(name), fileOwners: () => [], hourLongerS: 0, isWriter: true,
      bodies: { ofBlock: () => '', ofFile: () => '' }, hours: async () => [7, 6, 1] })
  }

  async listed(): Promise<number> {
    const place = { tenant: '*', kind: 'life_change',
      owner: '6c696665-0000-8000-8000-000000000000' } as const
    return (await this.documents.listDocuments(place, { limit: 9 })).length
  }

  /** Lets minutes go by, and the work that is due in each. */
  async minutes(count: number, ...members: readonly LifeChanges[]): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      this.env.advance(minuteMs + 1)
      for (const member of members) await member.settle()
    }
  }

  #connection(name: string): Connection {
    const note = (text: string) => void this.rewrites.push(text)
    const fails = () => this.failures > 0 && this.failures-- > 0
    return { keyspace: 'k', async *pages(
      { cql, values }: { readonly cql: string; readonly values: readonly unknown[] },
    ) {
      if (fails()) throw new Error('Cassandra is away.')
      if (cql.includes('span_head')) note(`${name} ${String(values[2])}`)
      yield []
    } } as unknown as Connection
  }
}

it('rewrites the oldest buckets first, a second time for late writes, and ends', async () => {
  const cluster = new Cluster()
  const member = cluster.member('a')
  await member.change({ tenant, project, lifeS: 5 })
  await member.settle()
  expect(cluster.rewrites).toEqual(['a 0', 'a 1'])
  expect(await cluster.listed()).toBe(1)
  await cluster.minutes(2, member)
  expect(cluster.rewrites).toEqual(['a 0', 'a 1', 'a 0', 'a 1'])
  expect(await cluster.listed()).toBe(0)
  await cluster.minutes(5, member)
  expect(cluster.rewrites).toHaveLength(4)
  await member.close()
})

it('finishes the change of a member that ended', async () => {
  const cluster = new Cluster()
  const first = cluster.member('a')
  cluster.failures = 1
  await first.change({ tenant, project, lifeS: 5 })
  await first.close()
  expect(cluster.rewrites).toEqual([])
  const next = cluster.member('b')
  await cluster.minutes(9, next)
  expect(cluster.rewrites).toEqual([])
  await cluster.minutes(5, next)
  expect(cluster.rewrites).toEqual(['b 0', 'b 1', 'b 0', 'b 1'])
  expect(await cluster.listed()).toBe(0)
  await next.close()
})

it('makes only the last of several changes of a project', async () => {
  const cluster = new Cluster()
  cluster.failures = 2
  const members = [cluster.member('a'), cluster.member('b')]
  await members[0]!.change({ tenant, project, lifeS: 5 })
  await members[0]!.settle()
  await members[1]!.change({ tenant, project, lifeS: 6 })
  await members[1]!.settle()
  await cluster.minutes(3, ...members)
  expect(new Set(cluster.rewrites)).toEqual(new Set(['b 0', 'b 1']))
  expect(await cluster.listed()).toBe(0)
  await Promise.all(members.map((member) => member.close()))
})

it('tries again after a failure', async () => {
  const cluster = new Cluster()
  cluster.failures = 3
  const member = cluster.member('a')
  await member.change({ tenant, project, lifeS: 5 })
  await cluster.minutes(6, member)
  expect(cluster.rewrites).toEqual(['a 0', 'a 1', 'a 0', 'a 1'])
  expect(await cluster.listed()).toBe(0)
  await member.close()
})
