/** Follows of actors in other members: every call in order, and an end that the follower learns. */

import { connectivityState } from '@grpc/grpc-js'
import { createChannel, createClient } from 'nice-grpc'
import { Metadata } from 'nice-grpc-common'
import { describe, expect, it, onTestFinished } from 'vitest'

import { MemberServiceDefinition } from '../../../../proto/gen/cluster/v1/member.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { useCuttingProxy } from '../../../support/own-proxy.ts'
import { isNight } from '../../../support/repeats.ts'
import { keeping, memberThat, transportWith, trust, until, white } from './grpc/grpc-house.ts'
import type { Watcher } from './grpc/grpc-house.ts'

const proxy = useCuttingProxy()

/** A member with a game that the test plays: `play` and `end` reach all its followers. */
async function playedMember() {
  const watchers = new Set<Watcher>()
  const requests: unknown[] = []
  const member = await memberThat({
    ask: async (_, command) => command,
    follow: async (_, request, listener) => {
      requests.push(request)
      watchers.add(listener as Watcher)
      return () => watchers.delete(listener as Watcher)
    },
  })
  const play = (...moves: string[]) => {
    for (const watcher of watchers) watcher.moves(moves)
  }
  const end = () => {
    for (const watcher of watchers) watcher.ended('over')
  }
  return { member, watchers, requests, play, end }
}

describe('a follow', () => {
  it('gets every call of the actor in order, to the last', async () => {
    const { member, play, end, requests, watchers } = await playedMember()
    const { watcher, moves, ended } = keeping()
    await transportWith().follow(member, white, { after: 'e4' }, watcher)
    const played = Array.from({ length: 3_000 }, (_, number) => `${number}`)
    for (const [number, move] of played.entries()) {
      play(move)
      if (number % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    end()
    expect(await ended).toBe('over')
    expect(moves).toEqual(played)
    expect(requests).toEqual([{ after: 'e4' }])
    await until(() => watchers.size === 0)
  })

  it('gets calls that were made while it began', async () => {
    const member = await memberThat({
      follow: async (_, _request, listener) => {
        ;(listener as Watcher).moves(['e4', 'e5'])
        ;(listener as Watcher).ended('over')
        return () => {}
      },
    })
    const { watcher, moves, ended } = keeping()
    await transportWith().follow(member, white, null, watcher)
    expect(await ended).toBe('over')
    expect(moves).toEqual(['e4', 'e5'])
  })

  it('that is refused throws what the actor threw', async () => {
    const member = await memberThat({
      follow: async () => {
        throw new HeddleError('not_found', 'No such game.')
      },
    })
    await expect(transportWith().follow(member, white, null, keeping().watcher)).rejects
      .toMatchObject({ code: 'not_found', message: 'No such game.' })
  })

  it('that is stopped gets nothing more, and the actor forgets it', async () => {
    const { member, watchers, play } = await playedMember()
    const { watcher, moves } = keeping()
    const stop = await transportWith().follow(member, white, null, watcher)
    stop()
    play('e4')
    stop()
    await until(() => watchers.size === 0)
    expect(moves).toEqual([])
  })

  it('is lost if the connection breaks or the member goes away', async () => {
    const { member, watchers } = await playedMember()
    const url = await proxy.to(`http://${member.address}`)
    const cut = keeping()
    const left = keeping()
    const address = url.slice('http://'.length)
    await transportWith().follow({ id: 'white', address }, white, null, cut.watcher)
    await transportWith().follow(member, white, null, left.watcher)
    proxy.cut()
    expect(await cut.ended).toBe('lost')
    await until(() => watchers.size === 1)
    await member.server.close(new AbortController().signal)
    expect(await left.ended).toBe('lost')
    expect(watchers.size).toBe(0)
  })

  it('is lost if its own transport closes', async () => {
    const { member, watchers } = await playedMember()
    const transport = transportWith()
    const { watcher, ended } = keeping()
    await transport.follow(member, white, null, watcher)
    transport.close()
    expect(await ended).toBe('lost')
    await until(() => watchers.size === 0)
  })

  it('continues while many others begin and stop on the same connection', async () => {
    const { member, watchers, play } = await playedMember()
    const transport = transportWith()
    const { watcher, moves } = keeping()
    await transport.follow(member, white, null, watcher)
    for (let rounds = 0; rounds < 8; rounds++) {
      const stops = await Promise.all(
        Array.from({ length: 50 }, () => transport.follow(member, white, null, keeping().watcher)),
      )
      for (const stop of stops) stop()
    }
    await until(() => watchers.size === 1)
    play('e4')
    await until(() => moves.length > 0)
  })

  it.runIf(isNight)('that is not read ends as lagged, while others continue', async () => {
    const { member, watchers, play } = await playedMember()
    const transport = transportWith()
    const reader = keeping()
    await transport.follow(member, white, null, reader.watcher)
    const sleeper = await asleep(member.address)
    await until(() => watchers.size === 2)
    const move = 'x'.repeat(1024 * 1024)
    for (let played = 1; watchers.size === 2; played++) {
      play(move)
      expect(await transport.deliver(member, white, played)).toBe(played)
      await until(() => reader.moves.length === played)
      expect(played).toBeLessThan(100)
    }
    play('e4')
    await until(() => reader.moves.at(-1) === 'e4')
    expect(await sleeper.last()).toMatchObject({ lagged: true })
  })
})

/** Follows by a connection of its own and reads only the first message, until `last` is called. */
async function asleep(address: string) {
  const channel = createChannel(address)
  onTestFinished(() => channel.close())
  const metadata = Metadata({ authorization: `Bearer ${trust.secret}`, 'heddle-version': '1',
    'heddle-cluster': 'chess%20club' })
  const client = createClient(MemberServiceDefinition, channel, { '*': { metadata } })
  const request = { key: white, followId: 'asleep', request: Uint8Array.of(0) }
  const messages = client.follow(request)[Symbol.asyncIterator]()
  await messages.next()
  expect(channel.getConnectivityState(false)).toBe(connectivityState.READY)
  return {
    last: async () => {
      let last
      for (;;) {
        const { done, value } = await messages.next()
        if (done) return last
        last = value
      }
    },
  }
}
