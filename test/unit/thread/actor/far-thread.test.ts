/** A thread of another member: over gRPC it answers as it does locally. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { fanOut, systemEnv } from '../../../../cluster/index.ts'
import type { Env, Inbound } from '../../../../cluster/index.ts'
import { grpcTransport } from '../../../../cluster/transport/grpc/grpc-transport.ts'
import { openGrpcServer } from '../../../../cluster/transport/grpc/server.ts'
import { encodeRow } from '../../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { StepEvent } from '../../../../src/graph/index.ts'
import { threadWire } from '../../../../src/thread/feed/feed-wire.ts'
import { createThreadClient } from '../../../../src/thread/index.ts'
import type { FeedEvent, FeedListener, ThreadClient } from '../../../../src/thread/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { eventually } from '../../../support/eventually.ts'
import { historyText } from '../../../support/history-text.ts'
import { updates } from '../../../support/scripted-host.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'
import { readThread, ThreadReader } from '../../../support/thread-reader.ts'

const ends: (() => unknown)[] = []

const common = {
  env: systemEnv({ level: 'silent' }),
  trust: { secret: 'the-secret-of-this-cluster' },
  identity: { cluster: 'test', version: 1 },
  kinds: [{ name: 'thread', wire: threadWire }],
  reviveError: HeddleError.revive,
}

let house: ThreadHouse
let near: ThreadClient
let far: ThreadClient

beforeEach(async () => {
  house = new ThreadHouse()
  near = house.client
  far = await throughMember(house.inbound)
})

/** A client whose threads live in another member, which answers as `inbound` does. */
async function throughMember(inbound: Inbound, env: Env = common.env): Promise<ThreadClient> {
  const server = await openGrpcServer({ ...common, env, id: 'm', host: '127.0.0.1' })
  server.serve(inbound)
  const { close, ...transport } = grpcTransport(common)
  const shared = fanOut(transport, common.kinds)
  const to = { id: 'm', address: server.address }
  ends.push(() => server.close(AbortSignal.abort()), close)
  return createThreadClient({
    router: {
      ask: (key, command, cancelled) =>
        shared.deliver(to, key, command, cancelled && { cancelled }),
      follow: (key, request, listener) => shared.follow(to, key, request, listener),
    },
    threads: house.tables.threads,
    newThreadId: () => house.env.uuid(),
    env: house.env,
    reads: house.reads,
  })
}

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function reading() {
  const seen: FeedEvent[] = []
  const end = Promise.withResolvers<string>()
  const listener: FeedListener = {
    events: (batch) => void seen.push(...batch),
    ended: (how) => end.resolve(how),
  }
  return { seen, ended: end.promise, listener }
}

describe('a thread of another member', () => {
  it('has its history read in parts, and as a whole from an earlier member', async () => {
    await house.startRun('x')
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    await settled()
    const texts = Array.from({ length: 20 }, (_, n) => `{"n":${n},"x":"${'ü'.repeat(1_100_000)}"}`)
    const asked: number[] = []
    house.log.findCheckpoint = async (_branch, id) => ({ id, seq: 1, base: 1 })
    house.log.read = async () => [{ epoch: 1, seq: 1, body: encodeRow(
      texts.map((_, n) => ({ $case: 'checkpoint',
        value: { ns: '', id: `c${n}`, parentId: '', full: true, changes: [], skeletonJson: '{}',
          metadataJson: '{}', runId: '', atMs: 0 } })
      ),
    ) }]
    house.host.ask = async (_graph, _thread, question) => {
      const { before, limit } = question as { before: string | null; limit: number }
      const from = before === null ? 0 : Number(before.slice(1)) + 1
      asked.push(limit)
      return texts.slice(from, from + limit).map((json, n) => ({ checkpointId: `c${from + n}`, json,
        valuesOf: '', values: '' })
      )
    }
    const query = { checkpointId: null, checkpointNs: '', before: null, limit: 20, metadata: null,
      select: ['next', 'tasks'] }
    const parts: number[] = []
    const applied: string[] = []
    for await (const { states } of far.history('t', 'x', query)) {
      parts.push(states.length)
      applied.push(...states)
    }
    expect(applied).toEqual(texts)
    expect(parts).toEqual([16, 4])
    const earlier = await house.inbound.ask({ kind: 'thread', tenant: 't', id: 'x' }, {
      type: 'history',
      query,
    })
    expect(earlier).toBe(`[${texts.join(',')}]`)
    const old = await throughMember({ ...house.inbound, ask: async () => earlier })
    expect(await historyText(old.history('t', 'x', query))).toBe(earlier)
  })

  it('is created, changed, read, copied and deleted from here as it is there', async () => {
    const request = { threadId: 'x', isNewId: true, metadata: { who: 'me' }, supersteps: [],
      ifExists: 'raise' as const }
    const made = await far.create('t', request)
    expect(house.log.rows[0]).toMatchObject({ isNewId: true })
    expect(made).toEqual(await near.get('t', 'x'))
    expect(await far.patch('t', 'x', { deep: { er: [1, null, 'zwölf'] } }))
      .toEqual(await near.get('t', 'x'))
    expect(await far.copy('t', 'x')).toMatchObject({ values: '{}' })
    await far.delete('t', 'x')
    await expect(near.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('refuses with the same error from here as there', async () => {
    for (const call of [(client: ThreadClient) => client.get('t', 'none'),
      (client: ThreadClient) => client.getRun('t', 'none', 'r'),
      (client: ThreadClient) =>
        client.followRun('t', 'none', 'r', { after: null, modes: null }, reading().listener)]) {
      const here = await call(far).catch((error: Error) => error) as Error
      const there = await call(near).catch((error: Error) => error) as Error
      expect(here).toMatchObject({ message: there.message, code: 'not_found' })
    }
  })

  it('has its runs started, followed, joined and listed from here as there', async () => {
    const run = house.run()
    const row = await far.startRun('t', 'x', run)
    expect(row).toEqual(await near.getRun('t', 'x', run.runId))
    const readers = [reading(), reading()]
    for (const { listener } of readers) {
      await far.followRun('t', 'x', run.runId, { after: null, modes: null }, listener)
    }
    const at = reading()
    await near.followRun('t', 'x', run.runId, { after: null, modes: null }, at.listener)
    const result = far.joinRun('t', 'x', run.runId)
    await house.host.step(house.host.only, 'one', [updates('{"n":1}')])
    house.host.end(house.host.only)
    expect(await result).toBe(await near.joinRun('t', 'x', run.runId))
    expect(await at.ended).toBe('over')
    for (const { ended, seen } of readers) {
      expect(await ended).toBe('over')
      expect(seen).toEqual(at.seen)
    }
    expect(at.seen.length).toBeGreaterThan(0)
    const query = { tenant: 't', threadId: 'x', limit: 10, offset: 0 }
    expect(await far.listRuns(query)).toEqual(await near.listRuns(query))
    expect(await far.get('t', 'x')).toEqual(await near.get('t', 'x'))
  })

  it('is followed from here behind a checkpoint, and in some namespaces', async () => {
    const run = house.run()
    await near.startRun('t', 'x', run)
    const inside: StepEvent = { ...updates('{"n":2}'), name: 'updates|sub:1' }
    await house.host.step(house.host.only, 'one', [updates('{"n":1}')])
    const checkpointId = house.host.only.headId!
    await house.host.step(house.host.only, 'two', [updates('{"n":2}'), inside])
    await settled()
    const whole = reading()
    const rests = [{ checkpointId }, { checkpointId, namespaces: ['sub:1'] }, {
      checkpointId: 'unknown',
    }].map((watch) => ({ watch, ...reading() }))
    const all = { after: null, modes: null }
    await far.followRun('t', 'x', run.runId, all, whole.listener)
    for (const { watch, listener } of rests) {
      await far.followRun('t', 'x', run.runId, { ...all, ...watch }, listener)
    }
    house.host.end(house.host.only)
    await Promise.all([whole, ...rests].map(({ ended }) => ended))
    const namesOf = ({ seen }: { readonly seen: readonly FeedEvent[] }) =>
      seen.map(({ name }) => name)
    expect(namesOf(whole)).toEqual(['metadata', 'updates', 'updates', 'updates|sub:1', 'end'])
    expect(rests.map(namesOf)).toEqual([['updates', 'updates|sub:1', 'end'], ['updates|sub:1',
      'end'], namesOf(whole)])
  })

  it('forgets a caller that stopped waiting here, and its run continues', async () => {
    const clock = virtualEnv()
    const asked: { readonly type: string; readonly outcome: Promise<unknown> }[] = []
    const client = await throughMember({ ...house.inbound, ask: (key, command, delivery) => {
      const reply = house.inbound.ask(key, command, delivery)
      const { type } = command as { readonly type: string }
      asked.push({ type, outcome: reply.catch((error: unknown) => error) })
      return reply
    } }, clock)
    const run = house.run()
    await client.startRun('t', 'x', run)
    const leaving = new AbortController()
    const left = new HeddleError('unavailable', 'The client went.')
    const joined = client.joinRun('t', 'x', run.runId, leaving.signal)
      .catch((error: unknown) => error)
    while (clock.timers() === 0) await settled()
    leaving.abort(left)
    expect(await joined).toBe(left)
    expect(asked.map(({ type }) => type)).toEqual(['start', 'join'])
    expect(await asked[1]!.outcome).toMatchObject({ message: 'Nobody asks for this any more.' })
    expect(clock.timers()).toBe(0)
    house.host.end(house.host.only)
    expect((await near.getRun('t', 'x', run.runId)).status).toBe('success')
  })

  it('has its runs cancelled from here', async () => {
    const run = house.run()
    await far.startRun('t', 'x', run)
    const { listener, ended } = reading()
    await far.followRun('t', 'x', run.runId, { after: null, modes: null }, listener)
    await far.cancelRun('t', 'x', run.runId, { action: 'interrupt' })
    expect(await ended).toBe('over')
    expect((await far.getRun('t', 'x', run.runId)).status).toBe('interrupted')
  })
})

/** Threads that move to another member, and a client that always asks their current owner. */
async function moving() {
  const pair = new ThreadPair()
  const { close, forget, ...transport } = grpcTransport(common)
  const shared = fanOut(transport, common.kinds)
  const open = async (id: string) => {
    const server = await openGrpcServer({ ...common, id, host: '127.0.0.1' })
    server.serve(pair.inbound)
    ends.push(() => server.close(AbortSignal.abort()))
    return { server, member: { id, address: server.address } }
  }
  let owner = await open('m1')
  ends.push(close)
  const client = createThreadClient({
    router: {
      ask: (key, command) => shared.deliver(owner.member, key, command),
      follow: (key, request, listener) => shared.follow(owner.member, key, request, listener),
    },
    threads: pair.tables.threads,
    newThreadId: () => pair.env.uuid(),
    env: common.env,
    reads: pair.reads,
  })
  const move = async (leave: () => unknown) => {
    const before = owner
    await leave()
    owner = await open('m2')
    await before.server.close(AbortSignal.abort())
    forget(before.member)
  }
  return { pair, client, move }
}

describe('a run of another member that a third member takes over', () => {
  const leaves = {
    killed: (pair: ThreadPair) => pair.kill(),
    'handed over': async (pair: ThreadPair) => {
      const { host } = pair
      const handed = pair.handOver()
      while (host.paused.size === 0) await new Promise((resolve) => setImmediate(resolve))
      host.end(host.only, { status: 'drained' })
      await handed
    },
  }

  it.each(Object.entries(leaves))('is followed and joined to its end if the owner is %s',
    async (_, leave) => {
      const { pair, client, move } = await moving()
      await client.startRun('t', 'x', aRun('r'))
      const readers = [null, null, ['updates'], ['values']].map((modes) => ({ modes,
        ...reading() })
      )
      for (const { modes, listener } of readers) {
        await client.followRun('t', 'x', 'r', { after: null, modes }, listener)
      }
      const result = client.joinRun('t', 'x', 'r')
      const values = (n: string) => ({ name: 'values', json: n, valuesOf: '', durable: true })
      await pair.host.step(pair.host.only, 'one', [updates('1'), values('1')])
      await move(() => leave(pair))
      await pair.host.step(pair.host.only, 'two', [updates('2')])
      await pair.host.step(pair.host.only, 'three', [updates('3')])
      pair.host.end(pair.host.only)
      for (const { ended, seen, modes } of readers) {
        expect(await ended).toBe('over')
        const noted = (name: string) => seen.filter((e) => e.name === name).map((e) => e.json)
        expect(noted('updates')).toEqual(modes?.[0] === 'values' ? [] : ['1', '2', '3'])
        expect(noted('values')).toEqual(modes?.[0] === 'updates' ? [] : ['1'])
        expect(noted('metadata')).toHaveLength(2)
      }
      expect(JSON.parse(await result)).toEqual({ log: ['three', 'two', 'one'] })
    })
})

describe('a whole thread', () => {
  it('is followed as it is locally, by each follower alone', async () => {
    const [here, there, other] = await Promise.all(
      [near, far, far].map((client) => readThread(client, 'x')),
    )
    await house.runOnce('x', 'one')
    await eventually(() => expect(there!.ids).toHaveLength(4))
    expect(there!.all).toEqual(here!.all)
    await eventually(() => expect(other!.all).toEqual(here!.all))
    const late = await readThread(far, 'x', here!.all[1]!.seq)
    await eventually(() => expect(late.all).toEqual(here!.all.slice(2)))
    await near.delete('t', 'x')
    await eventually(() => expect(there!.ends).toEqual(['gone']))
  })

  it('sends a long past no faster than its reader takes it, and all of it', async () => {
    const here = await readThread(near, 'x')
    await house.startRun('x')
    await settled()
    const json = JSON.stringify('x'.repeat(50_000))
    const event = { name: 'thread:messages|', json, valuesOf: '', durable: false }
    for (let n = 0; n < 60; n++) void house.host.only.listener.steps({ steps: [], events: [event] })
    await settled()
    const slow = new ThreadReader()
    let most = 0
    let taken = 0
    let room = Promise.withResolvers<void>()
    slow.ready = () => (slow.all.length > taken ? room.promise : undefined)
    await far.followThread('t', 'x', { afterSeq: null, ifMissing: 'wait' }, slow)
    while (slow.all.length < here.all.length) {
      for (let turns = 0; turns < 50; turns++) await settled()
      most = Math.max(most, slow.all.length - taken)
      taken = slow.all.length
      room.resolve()
      room = Promise.withResolvers()
    }
    expect(slow.ids).toEqual(here.ids)
    expect(most).toBeLessThan(10)
  })
})
