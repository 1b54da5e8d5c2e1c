/** The cluster over HTTP: who may look, and what a stream says. */

import { describe, expect, it } from 'vitest'

import { keyAdmin } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { virtualEnv } from '../../../support/env.ts'
import { call, openDoor, plainStatus } from '../open-front-door.ts'

const [a, b] = [{ id: 'a', address: 'at a' }, { id: 'b', address: 'at b' }]

/** Two members, the second of which can go. */
function twoMembers() {
  let gone = false
  const cluster: FrontDoorOptions['cluster'] = {
    embedded: false,
    shards: 2,
    ask: async () => ({ version: '1.2.3', startedAtMs: 0, actors: 3, runs: 1, load: 0.25 }),
    status: () => ({ member: a, view: gone ? [a] : [a, b], leaving: [],
      shards: ['a', gone ? 'a' : 'b'].map((session, shard) => ({ shard, epoch: 1, session,
        address: '' })
      ) }),
  }
  return { cluster, kill: () => void (gone = true) }
}

interface SentEvent {
  readonly name: string
  readonly value: Record<string, unknown>
}

/** Reads events of a stream one by one. */
async function* eventsOf(response: Response): AsyncGenerator<SentEvent, undefined, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes as Uint8Array, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, name = '', json = ''] = /event: (.*)\ndata: (.*)/.exec(text.slice(0, end)) ?? []
      text = text.slice(end + 2)
      yield { name, value: JSON.parse(json) as Record<string, unknown> }
    }
  }
  return undefined
}

describe('the cluster', () => {
  it('is shown with what its members say', async () => {
    const { cluster } = twoMembers()
    const { status, json } = await call(await openDoor({ cluster }), 'GET', '/cluster')
    expect(status).toBe(200)
    const said = { version: '1.2.3', started_at: '1970-01-01T00:00:00.000+00:00', actors: 3,
      runs: 1, load: 0.25, state: 'serving', shards: 1 }
    expect(json).toEqual({
      members: [{ ...a, ...said, self: true }, { ...b, ...said, self: false }],
      shards: { count: 2, owners: [0, 1] },
      region: null,
      embedded: false,
    })
  })

  it('is streamed, and the stream says what happens', async () => {
    const { cluster, kill } = twoMembers()
    const door = await openDoor({ cluster })
    const leave = new AbortController()
    const response = await fetch(`${door.url}/cluster/stream`, { signal: leave.signal })
    const events = eventsOf(response)
    const next = async () => (await events.next()).value!
    expect(await next()).toMatchObject({ name: 'cluster', value: { shards: { owners: [0, 1] } } })
    kill()
    door.env.advance(250)
    expect(await next()).toMatchObject({ name: 'gone',
      value: { id: 'b', at: '2026-01-01T00:00:00.250+00:00' } })
    expect(await next()).toEqual({ name: 'moved',
      value: { from: 'b', to: 'a', shards: [1], at: '2026-01-01T00:00:00.250+00:00' } })
    door.env.advance(750)
    expect(await next()).toEqual({ name: 'load', value: {
      members: [{ id: 'a', version: '1.2.3', started_at: '1970-01-01T00:00:00.000+00:00', actors: 3,
        runs: 1, load: 0.25 }],
    } })
    leave.abort()
  })

  it('counts its streams to the quota of the tenant', async () => {
    const { cluster } = twoMembers()
    const door = await openDoor({ cluster,
      quotas: { use: async () => ({ threads: 0, bytes: 0, runs: 0, delayedRuns: 0, crons: 0 }),
        limits: { bytes: 1, threads: 1, runs: 1, delayedRuns: 1, crons: 1, streams: 1 } } })
    const leave = new AbortController()
    const first = await fetch(`${door.url}/cluster/stream`, { signal: leave.signal })
    expect(first.status).toBe(200)
    expect((await call(door, 'GET', '/cluster/stream')).status).toBe(429)
    leave.abort()
  })

  it('is for this machine only, if the server has no keys', async () => {
    const door = await openDoor()
    const proxied = { 'x-forwarded-for': '1.2.3.4' }
    for (const path of ['/cluster', '/cluster/stream']) {
      const answer = await call(door, 'GET', path, undefined, proxied)
      expect([answer.status, answer.json['detail']])
        .toEqual([404, expect.stringContaining('--auth keys')])
    }
    expect(await plainStatus(door.url, '/cluster')).toBe(200)
  })

  it('is for admins anywhere, if it has keys', async () => {
    const keys = new MemoryKeys()
    const door = await openDoor({
      auth: { keys, region: 'us', regionUrls: { us: '' }, sessions: null,
        addressOf: addressReader([]) },
    })
    const admin = keyAdmin({ table: keys, region: 'us', env: virtualEnv() })
    const statusAs = async (role: 'admin' | 'developer') => {
      const { key } = await admin.create({ tenant: 'acme', role, name: '', expiresInMs: null })
      return (await call(door, 'GET', '/cluster', undefined, { 'x-api-key': key,
        'x-forwarded-for': '1.2.3.4' })).status
    }
    expect([await statusAs('admin'), await statusAs('developer')]).toEqual([200, 403])
  })
})
