/** Commands between members over real connections: answers, refusals, and unknown outcomes. */

import { describe, expect, it } from 'vitest'

import type { Delivery, Member } from '../../../../../cluster/index.ts'
import { openGrpcServer } from '../../../../../cluster/transport/grpc/server.ts'
import { HeddleError } from '../../../../../src/errors.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'
import { useCuttingProxy } from '../../../../support/own-proxy.ts'
import { firstFreePort } from '../../../../support/port.ts'
import { identity, env, kinds, memberThat, transportWith, trust, until,
  white } from './grpc-house.ts'

const proxy = useCuttingProxy()

/** The same member behind a proxy that the test can cut. */
async function byProxy<Place extends { readonly address: string }>(place: Place): Promise<Place> {
  const url = await proxy.to(`http://${place.address}`)
  return { ...place, address: url.slice('http://'.length) }
}

const addressOfNobody = async () => `127.0.0.1:${await firstFreePort()}`

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('it was answered')
    },
    (error: unknown) => error as HeddleError,
  )

/** A caller that asked under the id `one` and went before the answer. */
async function gone(transport: ReturnType<typeof transportWith>, member: Member,
  clock: VirtualEnv) {
  const leaving = new AbortController()
  const left = new HeddleError('unavailable', 'The client went.')
  const asked = rejection(
    transport.deliver(member, white, 'e4', { id: 'one', cancelled: leaving.signal }),
  )
  await until(() => clock.timers() === 1)
  leaving.abort(left)
  return { asked, left }
}

describe('a delivered command', () => {
  it('reaches the actor of the other member, with key and id', async () => {
    const member = await memberThat({
      ask: async (to, command, { id } = {}) => ({ received: [to, command, { id }] }),
    })
    const delivery = { id: 'c1' }
    const answer = await transportWith().deliver(member, white, { move: 'e4' }, delivery)
    expect(answer).toEqual({ received: [white, { move: 'e4' }, delivery] })
  })

  it('may be answered by undefined, by text and by megabytes', async () => {
    const answers = [undefined, 'e4', '', null, 'x'.repeat(9 * 1024 * 1024)]
    const member = await memberThat({ ask: async (_, index) => answers[index as number] })
    const transport = transportWith()
    for (const [index, answer] of answers.entries()) {
      expect(await transport.deliver(member, white, index)).toBe(answer)
    }
  })

  it('shows by its reply that the member is alive; a failure shows nothing', async () => {
    const transport = transportWith()
    const member = await memberThat({ ask: async () => 'e4' })
    expect(transport.lastSeenMs(member)).toBe(-Infinity)
    const askedMs = env.monotonicMs()
    await transport.deliver(member, white, 'e4')
    expect(transport.lastSeenMs(member)).toBeGreaterThanOrEqual(askedMs)
    const nobody = { id: 'nobody', address: await addressOfNobody() }
    await rejection(transport.deliver(nobody, white, 'e4'))
    expect(transport.lastSeenMs(nobody)).toBe(-Infinity)
  })

  it('that the actor refuses is refused here, with code, message and details', async () => {
    const member = await memberThat({
      ask: async () => {
        throw new HeddleError('busy', 'Black is thinking – wait.', { at: 3 })
      },
    })
    const error = await rejection(transportWith().deliver(member, white, 'e4'))
    expect(error).toBeInstanceOf(HeddleError)
    expect(error).toMatchObject({ code: 'busy', message: 'Black is thinking – wait.',
      details: { at: 3 }, grpcStatus: 9 })
  })

  it('to the wrong member is refused with the owner and epoch that it knows', async () => {
    const details = { owner: { id: 'black', address: 'black:1' }, epoch: 9 }
    const member = await memberThat({
      ask: async () => {
        throw new HeddleError('not_owner', undefined, details)
      },
    })
    const error = await rejection(transportWith().deliver(member, white, 'e4'))
    expect(error).toMatchObject({ code: 'not_owner', retry: 'elsewhere', details })
  })

  it('that fails by a bug of the other member gets no detail of it', async () => {
    const log = virtualEnv()
    const member = await memberThat({ ask: async () => {
      throw new TypeError('secret detail')
    } }, { env: { ...env, log: log.log } })
    const error = await rejection(transportWith().deliver(member, white, 'e4'))
    expect(error).toMatchObject({ code: 'internal', message: 'Something went wrong here.' })
    expect(error.details).toEqual({})
    expect(log.lines).toMatchObject([{ level: 'error',
      details: { error: { message: 'secret detail' } } }])
  })

  it('is unavailable at once if nothing listens there, with the reason', async () => {
    const to = { id: 'gone', address: await addressOfNobody() }
    const error = await rejection(transportWith().deliver(to, white, 'e4'))
    expect(error).toMatchObject({ code: 'unavailable',
      details: { unreachable: expect.stringContaining('ECONNREFUSED') } })
    expect(error.details).not.toHaveProperty('ambiguous')
  })

  it('is unavailable if the member does not serve yet, or no longer serves', async () => {
    const transport = transportWith()
    const early = await openGrpcServer({ env, id: 'early', identity, trust, kinds,
      host: '127.0.0.1' })
    const to = { id: 'early', address: early.address }
    expect(await rejection(transport.deliver(to, white, 'e4')))
      .toMatchObject({ code: 'unavailable', message: expect.stringContaining('does not serve') })
    early.serve({ ask: async () => 'heard', follow: async () => () => {} })
    expect(await transport.deliver(to, white, 'e4')).toBe('heard')
    await early.close(new AbortController().signal)
    expect(await rejection(transport.deliver(to, white, 'e4')))
      .toMatchObject({ code: 'unavailable' })
  })

  it('whose connection is cut is ambiguous', async () => {
    const came = Promise.withResolvers<void>()
    const member = await byProxy(await memberThat({
      ask: () => {
        came.resolve()
        return new Promise(() => {})
      },
    }))
    const asked = rejection(transportWith().deliver(member, white, 'e4'))
    await came.promise
    proxy.cut()
    expect(await asked).toMatchObject({ code: 'internal', details: { ambiguous: true } })
  })

  it('is done once and answered the same if it is repeated under one id', async () => {
    let moves = 0
    const held = Promise.withResolvers<void>()
    const came = Promise.withResolvers<void>()
    const member = await byProxy(await memberThat({
      ask: async () => {
        moves++
        came.resolve()
        await held.promise
        return moves
      },
    }))
    const transport = transportWith()
    const first = rejection(transport.deliver(member, white, 'e4', { id: 'one' }))
    await came.promise
    proxy.cut()
    expect(await first).toMatchObject({ details: { ambiguous: true } })
    const second = untilAnswered(() => transport.deliver(member, white, 'e4', { id: 'one' }))
    held.resolve()
    expect(await second).toBe(1)
    expect(await transport.deliver(member, white, 'e4', { id: 'one' })).toBe(1)
    expect(await transport.deliver(member, white, 'e4', { id: 'two' })).toBe(2)
  })

  it('is done once even if its reply takes longer than several calls', async () => {
    const clock = virtualEnv()
    const held = Promise.withResolvers<string>()
    const received: AbortSignal[] = []
    const ask = (_key: unknown, _command: unknown, { cancelled }: Delivery = {}) => {
      received.push(cancelled!)
      return held.promise
    }
    const member = await memberThat({ ask }, { env: clock })
    const asked = transportWith().deliver(member, white, 'e4')
    await until(() => clock.timers() === 1)
    for (let calls = 1; calls <= 6; calls++) {
      clock.advance(10_000)
      // Two timers: one of the call, one for a caller that may not come back.
      await until(() => clock.timers() === 2)
    }
    held.resolve('mate')
    expect(await asked).toBe('mate')
    expect(received.map(({ aborted }) => aborted)).toEqual([false])
    expect(clock.timers()).toBe(0)
  })

  it('is aborted at once if its caller goes, and leaves nothing if it only waits', async () => {
    const clock = virtualEnv()
    const received: AbortSignal[] = []
    const ask = (_key: unknown, _command: unknown, { cancelled }: Delivery = {}) => {
      received.push(cancelled!)
      return new Promise((_, reject) => {
        cancelled!.addEventListener('abort', () => reject(cancelled!.reason as Error))
      })
    }
    const member = await memberThat({ ask }, { env: clock })
    const transport = transportWith()
    const { asked, left } = await gone(transport, member, clock)
    expect(await asked).toBe(left)
    expect([received[0]!.aborted, clock.timers()]).toEqual([true, 0])
    const again = rejection(transport.deliver(member, white, 'e4', { id: 'one' }))
    await until(() => received.length === 2)
    transport.close()
    await again
  })

  it('is done even if its caller goes', async () => {
    const clock = virtualEnv()
    const done = Promise.withResolvers<string>()
    const member = await memberThat({ ask: () => done.promise }, { env: clock })
    const transport = transportWith()
    const { asked, left } = await gone(transport, member, clock)
    clock.advance(10_000)
    expect(await asked).toBe(left)
    done.resolve('mate')
    expect(await transport.deliver(member, white, 'e4', { id: 'one' })).toBe('mate')
  })
})

describe('a transport', () => {
  it('ends calls to a member that has ended, and can reach the next one at its address',
    async () => {
      let came = 0
      const member = await memberThat({ ask: () => {
        came++
        return new Promise(() => {})
      } })
      const transport = transportWith()
      const asked = rejection(transport.deliver(member, white, 'e4'))
      await until(() => came === 1)
      transport.forget(member)
      expect(await asked).toMatchObject({ details: { ambiguous: true } })
      void rejection(transport.deliver({ ...member, id: 'next' }, white, 'e4'))
      await until(() => came === 2)
    })

  it('reaches nobody once it is closed', async () => {
    const member = await memberThat({ ask: async () => 'heard' })
    const transport = transportWith()
    expect(await transport.deliver(member, white, 'e4')).toBe('heard')
    transport.close()
    expect(await rejection(transport.deliver(member, white, 'e4')))
      .toMatchObject({ code: 'unavailable' })
  })

  it('closes unused connections, and opens them again when needed', async () => {
    const clock = virtualEnv()
    const url = await proxy.to(`http://${(await memberThat({ ask: async () => 'heard' })).address}`)
    const to = { id: 'white', address: url.slice('http://'.length) }
    const transport = transportWith({ env: clock })
    expect(await transport.deliver(to, white, 'e4')).toBe('heard')
    clock.advance(120_000)
    await until(() => proxy.open === 0)
    expect(await transport.deliver(to, white, 'e4')).toBe('heard')
  })
})

/** Repeats a call while the member is known to be unreachable. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (HeddleError.from(error).details['unreachable'] === undefined) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a caller without trust', () => {
  it('is refused whatever it asks, and learns nothing', async () => {
    let received = 0
    const member = await memberThat({ ask: async () => ++received, follow: async () => () => {} })
    for (const secret of ['another-secret-as-long', undefined]) {
      const outsider = transportWith({ trust: secret === undefined ? {} : { secret } })
      for (const call of [outsider.deliver(member, white, 'e4'),
        outsider.follow(member, white, null, {})]) {
        expect(await rejection(call)).toMatchObject({ code: 'unavailable',
          message: expect.stringContaining('the same secret'), details: { distrust: 'secret' } })
      }
    }
    expect(received).toBe(0)
  })

  it('is none while a secret is replaced member by member', async () => {
    const [older, newer] = ['the-secret-of-before', 'the-secret-from-now-on']
    const steps = [older, `${older},${newer}`, `${newer},${older}`, newer]
    const members = await Promise.all(
      steps.map((secret) =>
        memberThat({ ask: async () => 'understood', follow: async () => () => {} }, {
          trust: { secret },
        })
      ),
    )
    const understood = (from: number, to: number) =>
      transportWith({ trust: { secret: steps[from]! } }).deliver(members[to]!, white, 'e4')
    for (const from of steps.keys()) {
      // Members are one step apart while one step is taken.
      for (const to of [from - 1, from, from + 1].filter((step) => members[step])) {
        expect(await understood(from, to), `${from} to ${to}`).toBe('understood')
      }
    }
    expect(await rejection(understood(0, 3))).toMatchObject({ details: { distrust: 'secret' } })
    expect(await rejection(understood(3, 0))).toMatchObject({ details: { distrust: 'secret' } })
  })

  it('of another cluster or a version too far away gets the reason in a sentence', async () => {
    const member = await memberThat({ ask: async () => 'heard' })
    const ask = (other: Partial<typeof identity>) =>
      transportWith({ identity: { ...identity, ...other } }).deliver(member, white, 'e4')
    expect(await rejection(ask({ cluster: 'bridge – club' }))).toMatchObject({ code: 'unavailable',
      message: expect.stringContaining('"chess club" and not to "bridge – club"') })
    expect(await rejection(ask({ version: 3 }))).toMatchObject({ code: 'unavailable',
      message: expect.stringContaining('one version at a time') })
    expect(await ask({ version: 2 })).toBe('heard')
  })

  it('is not kept out by a short secret: a member refuses to start with one', async () => {
    await expect(memberThat({}, { trust: { secret: 'short' } })).rejects
      .toMatchObject({ code: 'invalid' })
  })
})
