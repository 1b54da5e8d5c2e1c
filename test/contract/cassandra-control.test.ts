/** The control tables on a real Cassandra: sessions and shards, by compare and set. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openSession, systemEnv } from '../../cluster/index.ts'
import type { ClaimChange, Member, SessionState, ShardClaim } from '../../cluster/index.ts'
import { HeartbeatTable } from '../../src/store/cassandra/cluster/heartbeat-table.ts'
import { SessionTable } from '../../src/store/cassandra/cluster/session-table.ts'
import { ShardTable } from '../../src/store/cassandra/cluster/shard-table.ts'
import { AmbiguousSwap, Connection } from '../../src/store/cassandra/driver/connection.ts'
import { cassandraForTests } from '../support/cassandra.ts'

const cassandra = await cassandraForTests()
const env = systemEnv({ level: 'silent' })
/** Pauses between tries end at once. */
const hasty = { ...env, after: (_: number, fn: () => void) => {
  queueMicrotask(fn)
  return () => {}
} }

let connection: Connection
/** A second member's own connection. */
let elsewhere: Connection

beforeAll(async () => {
  if (cassandra === undefined) return
  const keyspace = `control_${randomUUID().slice(0, 8)}`
  const open = () =>
    Connection.open({
      env,
      keyspace,
      contactPoints: cassandra.contactPoints,
      localDataCenter: cassandra.dataCenter,
    })
  connection = await open()
  elsewhere = await open()
  await connection.execute(`CREATE KEYSPACE ${connection.control} WITH replication = ` +
    `{'class': 'NetworkTopologyStrategy', '${cassandra.dataCenter}': 1}`)
  await connection.execute(`CREATE TABLE ${connection.control}.node_session (session uuid ` +
    'PRIMARY KEY, state text, address text, started timestamp, fenced_by uuid)')
  await connection.execute(`CREATE TABLE ${connection.control}.shard_owner (shard int ` +
    'PRIMARY KEY, epoch bigint, session uuid, address text)')
  await connection.execute(`CREATE TABLE ${connection.control}.member_beat (cluster int, ` +
    'session uuid, count bigint, leaving boolean, address text, ' +
    'PRIMARY KEY ((cluster), session))')
})

afterAll(async () => {
  await connection?.execute(`DROP KEYSPACE ${connection.control}`)
  await Promise.all([connection?.close(), elsewhere?.close()])
})

const newMember = (): Member => ({ id: randomUUID(), address: '127.0.0.1:4000' })

type Swap = Connection['swap']

/** The same connection with its compare-and-sets replaced by `swap`, which gets the real one. */
function ended(swap: (real: Swap, ...of: Parameters<Swap>) => ReturnType<Swap>) {
  const real: Swap = (statement) => connection.swap(statement)
  return {
    control: connection.control,
    read: (...of: Parameters<Connection['read']>) => connection.read(...of),
    swap: (...of: Parameters<Swap>) => swap(real, ...of),
  }
}

/** The first `times` compare-and-sets are done, or not, and their outcome stays unknown. */
function unclear(times: number, isDone: boolean) {
  let left = times
  return ended(async (real, statement) => {
    if (left-- <= 0) return real(statement)
    if (isDone) await real(statement)
    throw new AmbiguousSwap(new Error('timed out'))
  })
}

describe.skipIf(cassandra === undefined)('the session table', () => {
  it('keeps a session from its start to its end', async () => {
    const sessions = new SessionTable(connection, env)
    const { id, address } = newMember()
    expect(await sessions.state(id)).toBeUndefined()
    await sessions.join({ id, address })
    expect(await sessions.state(id)).toBe('alive')
    await sessions.leave(id)
    expect(await sessions.state(id)).toBe('left')
    await sessions.leave(id)
    await expect(sessions.join({ id, address })).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('ends a session once, and answers every later try with how it ended', async () => {
    const sessions = new SessionTable(connection, env)
    const [left, fenced] = [newMember(), newMember()]
    await Promise.all([sessions.join(left), sessions.join(fenced)])
    await sessions.leave(left.id)
    for (const by of [randomUUID(), randomUUID()]) {
      expect(await sessions.fence(left.id, by)).toBe('left')
      expect(await sessions.fence(fenced.id, by)).toBe('fenced')
    }
    await sessions.leave(fenced.id)
    expect(await sessions.state(fenced.id)).toBe('fenced')
  })

  it('fences an unknown session, which then cannot join', async () => {
    const sessions = new SessionTable(connection, env)
    const outsider = newMember()
    expect(await sessions.fence(outsider.id, randomUUID())).toBe('fenced')
    await expect(sessions.join(outsider)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await sessions.state(outsider.id)).toBe('fenced')
  })

  it('ends a session in one way when many fence it while it leaves', async () => {
    const member = newMember()
    const tables = [connection, elsewhere].map((own) => new SessionTable(own, env))
    await tables[0]!.join(member)
    const [, ...ends] = await Promise.all([
      tables[0]!.leave(member.id),
      ...[0, 1, 0, 1].map((index) => tables[index]!.fence(member.id, randomUUID())),
    ])
    const state = await tables[0]!.state(member.id)
    expect(new Set(ends)).toEqual(new Set([state]))
  })

  for (const isDone of [true, false]) {
    it(`retries when it is unknown that a change was ${isDone ? 'done' : 'lost'}`, async () => {
      const { id, address } = newMember()
      const steps: [(sessions: SessionTable) => Promise<unknown>, SessionState][] = [
        [(sessions) => sessions.join({ id, address }), 'alive'],
        [(sessions) => sessions.fence(id, randomUUID()), 'fenced'],
        [(sessions) => sessions.fence(id, randomUUID()), 'fenced'],
      ]
      for (const [step, state] of steps) {
        const sessions = new SessionTable(unclear(2, isDone), hasty)
        await step(sessions)
        expect(await sessions.state(id)).toBe(state)
      }
      const leaver = newMember()
      const sessions = new SessionTable(unclear(2, isDone), hasty)
      await sessions.join(leaver)
      await new SessionTable(unclear(2, isDone), hasty).leave(leaver.id)
      expect(await sessions.state(leaver.id)).toBe('left')
    })
  }

  it('takes only the answer of a completed change of its own as proof of an end', async () => {
    const member = newMember()
    await new SessionTable(connection, env).join(member)
    await new SessionTable(connection, env).fence(member.id, randomUUID())
    const applied: boolean[] = []
    const watched = ended(async (real, statement) => {
      const answer = await real(statement)
      applied.push(answer.applied)
      return answer
    })
    await new SessionTable(watched, env).fence(member.id, randomUUID())
    expect(applied).toEqual([false, true])
  })

  it('gives up if no outcome is ever known', async () => {
    const deaf = new SessionTable(unclear(Infinity, false), hasty)
    await expect(deaf.fence(randomUUID(), randomUUID())).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})

describe.skipIf(cassandra === undefined)('the shard table', () => {
  const claimed = { kind: 'claimed' }
  const shardsOfAll = 512
  let shard = 300

  /** A shard that no other test touches. */
  function newShard() {
    const number = shard++
    const owner = (epoch: number, session: string | null = randomUUID()): ShardClaim => ({
      shard: number,
      epoch,
      session,
      address: '127.0.0.1:4000',
    })
    return owner
  }

  it('hands a free shard to an owner, and from that to the next', async () => {
    const shards = new ShardTable(connection, shardsOfAll)
    const owner = newShard()
    const [first, second] = [owner(1), owner(5)]
    expect(await shards.claim({ from: undefined, to: first })).toEqual(claimed)
    expect(await shards.claim({ from: first, to: second })).toEqual(claimed)
    expect(await shards.owners()).toContainEqual(second)
    expect(await shards.owner(second.shard)).toEqual(second)
    expect(await shards.owner(shardsOfAll - 1)).toBeUndefined()
  })

  it('refuses a claim that expects the wrong owner, and answers the right one', async () => {
    const shards = new ShardTable(connection, shardsOfAll)
    const owner = newShard()
    const [now, next] = [owner(3), owner(4)]
    expect(await shards.claim({ from: owner(2), to: now }))
      .toEqual({ kind: 'refused', found: undefined })
    expect(await shards.claim({ from: undefined, to: now })).toEqual(claimed)
    const wrong = [undefined, { ...now, epoch: 2 }, { ...now, session: randomUUID() }, { ...now,
      session: null }]
    for (const from of wrong) {
      expect(await shards.claim({ from, to: next })).toEqual({ kind: 'refused', found: now })
    }
    expect(await shards.owners()).toContainEqual(now)
  })

  it('hands on a shard that was given back', async () => {
    const shards = new ShardTable(connection, shardsOfAll)
    const owner = newShard()
    const [first, free, second] = [owner(1), owner(2, null), owner(3)]
    const steps: ClaimChange[] = [{ from: undefined, to: first }, { from: first, to: free }, {
      from: free,
      to: second,
    }]
    for (const step of steps) expect(await shards.claim(step)).toEqual(claimed)
    expect(await shards.owners()).toContainEqual(second)
  })

  it('answers that an outcome is unknown', async () => {
    const shards = new ShardTable(unclear(1, true), shardsOfAll)
    const owner = newShard()
    const [first, second] = [owner(1), owner(2)]
    expect(await shards.claim({ from: undefined, to: first }))
      .toEqual({ kind: 'unknown', cause: expect.any(AmbiguousSwap) })
    expect(await shards.claim({ from: undefined, to: second }))
      .toEqual({ kind: 'refused', found: first })
  })

  it('gives each epoch to one of many that claim at once', async () => {
    const tables = [connection, elsewhere].map((own) => new ShardTable(own, shardsOfAll))
    const owner = newShard()
    const contenders = Array.from({ length: 8 }, () => owner(1))
    const claims = await Promise.all(
      contenders.map((to, index) => tables[index % 2]!.claim({ from: undefined, to })),
    )
    const won = contenders.filter((_, index) => claims[index]!.kind === 'claimed')
    const owners = await tables[0]!.owners()
    expect(won).toEqual([owners.find((one) => one.shard === won[0]?.shard)])
  })
})

describe.skipIf(cassandra === undefined)('a member on a real Cassandra', () => {
  const open = (own: Connection, self: Member) =>
    openSession({
      env,
      self,
      onFenced: () => {},
      sessions: new SessionTable(own, env),
    })

  it('passes its ownership check until another member ends its session', async () => {
    const [first, second] = [newMember(), newMember()]
    const session = await open(connection, first)
    await session.check.confirm()
    const other = await open(elsewhere, second)
    await new SessionTable(elsewhere, env).fence(first.id, second.id)
    await expect(session.check.confirm()).rejects.toMatchObject({ code: 'not_owner' })
    await other.check.confirm()
    await Promise.all([session.leave(), other.leave()])
  })
})

describe.skipIf(cassandra === undefined)('the heartbeat table', () => {
  it('has the newest heartbeat of each member until that is deleted', async () => {
    const [heartbeats, others] = [connection, elsewhere].map((own) => new HeartbeatTable(own)) as [
      HeartbeatTable,
      HeartbeatTable,
    ]
    const [one, other] = [newMember(), newMember()]
    await heartbeats.heartbeat({ ...one, count: 1, leaving: false })
    await heartbeats.heartbeat({ ...one, count: 2, leaving: true })
    await others.heartbeat({ ...other, count: 7, leaving: false })
    const all = await heartbeats.heartbeats()
    expect(all).toContainEqual({ ...one, count: 2, leaving: true })
    expect(all).toContainEqual({ ...other, count: 7, leaving: false })
    await others.forget(one.id)
    expect((await heartbeats.heartbeats()).map(({ id }) => id)).toEqual([other.id])
  })
})
