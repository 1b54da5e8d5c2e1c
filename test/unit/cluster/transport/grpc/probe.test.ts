/**
 * Probes by gRPC: which member is alive, dead or a caller without trust, and how soon that is
 * known.
 */

import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import type { LinkOptions } from '../../../../../cluster/index.ts'
import { grpcProbe, sight } from '../../../../../cluster/transport/grpc/probe.ts'
import { openGrpcServer } from '../../../../../cluster/transport/grpc/server.ts'
import { authority, expired, key, member, outsider } from '../../../../support/certificates.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { identity, env, kinds, memberThat, trust, until } from './grpc-house.ts'

const asking: LinkOptions = { env, trust, identity }

/** A server that calls `greet` for each connection. */
async function serverThat(greet: (socket: Socket) => void): Promise<string> {
  const visitors = new Set<Socket>()
  const server = createServer((socket) => {
    visitors.add(socket)
    socket.on('error', () => {})
    greet(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() =>
    new Promise<void>((done) => {
      for (const visitor of visitors) visitor.destroy()
      server.close(() => done())
    })
  )
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a probe by gRPC', () => {
  it('finds a member alive that answers with its id, even before it serves', async () => {
    const server = await openGrpcServer({ ...asking, id: 'white', kinds, host: '127.0.0.1' })
    onTestFinished(() => server.close(AbortSignal.abort()))
    const { address } = server
    expect(await sight({ id: 'white', address }, asking)).toEqual({ kind: 'alive' })
  })

  it('reaches a member by IPv6 and by host name', async () => {
    for (const host of ['::1', 'localhost']) {
      const { server: _, ...there } = await memberThat({}, { host })
      expect(await sight(there, asking)).toEqual({ kind: 'alive' })
    }
  })

  it('finds it dead at once if another member answers at its address', async () => {
    const { address } = await memberThat({}, { id: 'black' })
    expect(await sight({ id: 'white', address }, asking)).toEqual({ kind: 'dead' })
  })

  it('finds it dead at once if nothing listens, or the connection breaks', async () => {
    const clock = virtualEnv()
    const { address, server } = await memberThat({})
    await server.close(AbortSignal.abort())
    const broken = await serverThat((socket) => socket.resetAndDestroy())
    for (const there of [address, broken]) {
      const seen = await sight({ id: 'white', address: there }, { ...asking, env: clock })
      expect(seen).toEqual({ kind: 'dead' })
    }
    expect(clock.timers()).toBe(0)
  })

  it('finds it dead after three seconds of silence, and not before', async () => {
    const clock = virtualEnv()
    let came = false
    const address = await serverThat(() => {
      came = true
    })
    let seen: unknown
    const probing = sight({ id: 'white', address }, { ...asking, env: clock })
      .then((sighting) => {
        seen = sighting
      })
    await until(() => came)
    clock.advance(2_999)
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toBeUndefined()
    clock.advance(1)
    await probing
    expect(seen).toEqual({ kind: 'dead' })
  })

  it('tells a member that refuses it from a dead one, with the reason in a sentence', async () => {
    const { server: _, ...there } = await memberThat({})
    for (const [other, why] of [
      [{ trust: { secret: 'a-secret-of-others' } }, 'the same secret'],
      [{ identity: { ...identity, cluster: 'bridge' } }, '"bridge" and not to "chess club"'],
      [{ identity: { ...identity, version: 3 } }, 'one version at a time'],
    ] as const) {
      const seen = await sight(there, { ...asking, ...other })
      expect(seen).toEqual({ kind: 'incompatible', why: expect.stringContaining(why) })
      const outsiders: string[] = []
      const probe = grpcProbe({ ...asking, ...other }, (_, why) => outsiders.push(why))
      expect(await probe(there)).toBe(true)
      expect(outsiders).toEqual([expect.stringMatching(/^[A-Z].+\.$/s)])
    }
  })
})

describe('members with certificates', () => {
  const tls = (ca: string, cert: string, name?: string) => ({
    tls: { ca: Buffer.from(ca), cert: Buffer.from(cert), key: Buffer.from(key),
      ...name !== undefined && { name } },
  })

  it('are trusted by the name of their address, or by a name that all share', async () => {
    const mutual = tls(authority, member)
    const byName = await memberThat({}, { trust: mutual, host: 'localhost' })
    expect(await sight(byName, { ...asking, trust: mutual })).toEqual({ kind: 'alive' })
    const byAddress = await memberThat({}, { trust: mutual })
    const named = tls(authority, member, 'member.heddle')
    expect(await sight(byAddress, { ...asking, trust: named })).toEqual({ kind: 'alive' })
  })

  it('name the certificate as the reason if it is expired or of another authority', async () => {
    for (const [server, client] of [
      [tls(authority, expired), tls(authority, member)],
      [tls(authority, member), tls(outsider, member)],
    ] as const) {
      const there = await memberThat({}, { trust: server, host: 'localhost' })
      expect(await sight(there, { ...asking, trust: client }))
        .toEqual({ kind: 'incompatible', why: expect.stringMatching(/certificate/) })
    }
  })

  it('do not answer a client without one', async () => {
    const there = await memberThat({}, { trust: tls(authority, member), host: 'localhost' })
    expect(await sight(there, asking)).toEqual({ kind: 'dead' })
  })
})
