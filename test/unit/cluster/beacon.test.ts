/** Beacons and probes over real sockets: who lives, who is dead, and how soon that is known. */

import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

import { afterEach, describe, expect, it } from 'vitest'

import { lightBeacon, systemEnv, tcpProbe } from '../../../cluster/index.ts'
import { virtualEnv } from '../../support/env.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function beaconOf(id: string, host = '127.0.0.1') {
  const beacon = await lightBeacon({ id, host })
  ends.push(beacon.close)
  return beacon
}

/** A server that treats its visitors as `greet` does. */
async function serverThat(greet: (socket: Socket) => void) {
  const visitors = new Set<Socket>()
  const server: Server = createServer((socket) => {
    visitors.add(socket)
    socket.on('error', () => {})
    greet(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  ends.push(() => new Promise((done) => {
    for (const visitor of visitors) visitor.destroy()
    server.close(done)
  }))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function addressOfNobody(): Promise<string> {
  const beacon = await lightBeacon({ id: 'gone', host: '127.0.0.1' })
  await beacon.close()
  return beacon.address
}

describe('a probe', () => {
  it('finds a member alive whose beacon answers with its id', async () => {
    const env = virtualEnv()
    const { address } = await beaconOf('white')
    expect(await tcpProbe(env)({ id: 'white', address })).toBe(true)
    expect(env.timers()).toBe(0)
  })

  it('reaches a beacon of IPv6 and one by its name', async () => {
    const { address } = await beaconOf('white', '::1')
    expect(address).toMatch(/^\[::1\]:\d+$/)
    expect(await tcpProbe(virtualEnv())({ id: 'white', address })).toBe(true)
    const named = await beaconOf('black', 'localhost')
    expect(await tcpProbe(virtualEnv())({ id: 'black', address: named.address })).toBe(true)
  })

  it('finds it dead at once where another member answers at its address', async () => {
    const env = virtualEnv()
    const { address } = await beaconOf('white and more')
    for (const id of ['black', 'white']) {
      expect(await tcpProbe(env)({ id, address })).toBe(false)
    }
    expect(env.timers()).toBe(0)
  })

  it('finds it dead at once where nobody listens', async () => {
    const address = await addressOfNobody()
    expect(await tcpProbe(virtualEnv())({ id: 'white', address })).toBe(false)
  })

  it('finds it dead at once where the connection breaks', async () => {
    const env = virtualEnv()
    const address = await serverThat((socket) => socket.resetAndDestroy())
    expect(await tcpProbe(env)({ id: 'white', address })).toBe(false)
    expect(env.timers()).toBe(0)
  })

  it('finds it dead when it was silent for three seconds, and not before', async () => {
    const env = virtualEnv()
    const came = Promise.withResolvers<void>()
    const hungUp = Promise.withResolvers<void>()
    const address = await serverThat((socket) => {
      socket.write('whi')
      socket.once('close', () => hungUp.resolve())
      came.resolve()
    })
    let verdict: boolean | undefined
    const probing = tcpProbe(env)({ id: 'white', address }).then((alive) => { verdict = alive })
    await came.promise
    env.advance(2_999)
    await new Promise((resolve) => setImmediate(resolve))
    expect(verdict).toBeUndefined()
    env.advance(1)
    await probing
    expect(verdict).toBe(false)
    await hungUp.promise
  })

  it('tries again for three seconds where there is no way to the address', async () => {
    const env = virtualEnv()
    let verdict: boolean | undefined
    const probing = tcpProbe(env)({ id: 'white', address: '224.0.0.1:1' })
    void probing.then((alive) => { verdict = alive })
    for (let tries = 1; tries <= 12; tries++) {
      // It has failed when it waits for its next try as well as for the end.
      while (env.timers() < 2) await new Promise((resolve) => setImmediate(resolve))
      expect(verdict).toBeUndefined()
      env.advance(250)
    }
    expect(await probing).toBe(false)
    expect(env.timers()).toBe(0)
  })
})

describe('a beacon', () => {
  it('goes out though a visitor stays', async () => {
    const beacon = await lightBeacon({ id: 'white', host: '127.0.0.1' })
    const port = Number(beacon.address.split(':')[1])
    const visitor = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    ends.push(() => visitor.destroy())
    await new Promise((resolve) => visitor.once('data', resolve))
    await beacon.close()
    expect(await tcpProbe(systemEnv({ level: 'silent' }))({ id: 'white', ...beacon })).toBe(false)
  })

  it('says why it cannot listen', async () => {
    const { address } = await beaconOf('white')
    const port = Number(address.split(':')[1])
    await expect(lightBeacon({ id: 'black', host: '127.0.0.1', port }))
      .rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
