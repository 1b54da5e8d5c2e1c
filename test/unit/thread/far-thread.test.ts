/** A thread of another member: asked by gRPC it answers as it does at home. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { fanOut, systemEnv } from '../../../cluster/index.ts'
import { openGrpcServer } from '../../../cluster/grpc-server.ts'
import { grpcTransport } from '../../../cluster/transport-grpc.ts'
import { threadWire } from '../../../src/thread/feed-wire.ts'
import { createThreadClient } from '../../../src/thread/index.ts'
import type { FeedEvent, FeedListener, ThreadClient } from '../../../src/thread/index.ts'
import { updates } from '../../support/scripted-host.ts'
import { ThreadHouse } from '../../support/thread-house.ts'

const ends: (() => unknown)[] = []

let house: ThreadHouse
let near: ThreadClient
let far: ThreadClient

beforeEach(async () => {
  house = new ThreadHouse()
  near = house.client
  const common = {
    env: systemEnv({ level: 'silent' }), trust: { secret: 'the-secret-of-this-cluster' },
    dialect: { cluster: 'test', version: 1 }, kinds: [{ name: 'thread', wire: threadWire }],
  }
  const server = await openGrpcServer({ ...common, id: 'm', host: '127.0.0.1' })
  server.serve(house.inbound)
  const { close, ...transport } = grpcTransport(common)
  const shared = fanOut(transport, common.kinds)
  const to = { id: 'm', address: server.address }
  ends.push(() => server.close(AbortSignal.abort()), close)
  far = createThreadClient({
    router: {
      ask: (key, command) => shared.deliver(to, key, command),
      follow: (key, request, listener) => shared.follow(to, key, request, listener),
    },
    threads: house.tables.threads, newThreadId: () => house.env.uuid(),
  })
})

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function reading() {
  const seen: FeedEvent[] = []
  const end = Promise.withResolvers<string>()
  const listener: FeedListener = {
    events: (batch) => void seen.push(...batch), ended: (how) => end.resolve(how),
  }
  return { seen, ended: end.promise, listener }
}

describe('a thread of another member', () => {
  it('is made, changed and read from here as from there', async () => {
    const request = { threadId: 'x', metadata: { who: 'me' }, supersteps: [],
      ifExists: 'raise' as const }
    const made = await far.create('t', request)
    expect(made).toEqual(await near.get('t', 'x'))
    expect(await far.patch('t', 'x', { deep: { er: [1, null, 'zwölf'] } }))
      .toEqual(await near.get('t', 'x'))
    expect(await far.copy('t', 'x')).toMatchObject({ values: '{}' })
    await far.delete('t', 'x')
    await expect(near.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('refuses from here as it does there', async () => {
    for (const call of [(client: ThreadClient) => client.get('t', 'none'),
      (client: ThreadClient) => client.getRun('t', 'none', 'r'),
      (client: ThreadClient) =>
        client.followRun('t', 'none', 'r', { after: null, modes: null }, reading().listener)]) {
      const here = await call(far).catch((error: Error) => error) as Error
      const there = await call(near).catch((error: Error) => error) as Error
      expect(here).toMatchObject({ message: there.message, code: 'not_found' })
    }
  })

  it('has its runs started, followed, joined and listed from here', async () => {
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

  it('has its runs cancelled from here', async () => {
    const run = house.run()
    await far.startRun('t', 'x', run)
    const { listener, ended } = reading()
    await far.followRun('t', 'x', run.runId, { after: null, modes: null }, listener)
    await far.cancelRun('t', 'x', run.runId, { action: 'interrupt', wait: true })
    expect(await ended).toBe('over')
    expect((await far.getRun('t', 'x', run.runId)).status).toBe('interrupted')
  })
})
