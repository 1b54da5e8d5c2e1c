/** Repeated commands: done once, answered the same, forgotten in the end. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RecentCommands } from '../../../../cluster/actors/recent-commands.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const recentCommands = (bound = {}) => new RecentCommands(virtualEnv(), bound)

const bytesOf = (number: number) => Uint8Array.of(number)

describe('recent commands', () => {
  it('do each command once while it is remembered', async () => {
    await expectAlways(fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 })), async (ids) => {
      const recent = recentCommands({ answers: 21 })
      const done: number[] = []
      for (const id of ids) {
        const reply = await recent.answer(`${id}`, async () => bytesOf(done.push(id)))
        expect(reply).toEqual(bytesOf(done.indexOf(id) + 1))
      }
      expect(done).toEqual([...new Set(ids)])
    }))
  })

  it('join a command that is under way', async () => {
    const recent = recentCommands()
    const held = Promise.withResolvers<Uint8Array>()
    const first = recent.answer('a', () => held.promise)
    const second = recent.answer('a', () => Promise.reject(new Error('done twice')))
    held.resolve(bytesOf(1))
    expect(await Promise.all([first, second])).toEqual([bytesOf(1), bytesOf(1)])
  })

  it('remember a final refusal, and try again after any other failure', async () => {
    const recent = recentCommands()
    const failing = (id: string, error: unknown) =>
      recent.answer(id, () => Promise.reject(error)).catch((caught: unknown) => caught)
    const exists = new HeddleError('exists')
    expect(await failing('a', exists)).toBe(exists)
    expect(await failing('a', new Error('done twice'))).toBe(exists)
    for (const error of [new HeddleError('not_owner'), new HeddleError('unavailable'),
      new HeddleError('full'), new TypeError('a mistake')]) {
      expect(await failing('b', error)).toBe(error)
    }
    expect(await recent.answer('b', async () => bytesOf(2))).toEqual(bytesOf(2))
  })

  it('forget the oldest answers, by number and by size', async () => {
    for (const bound of [{ answers: 2 }, { bytes: 500 }]) {
      const recent = recentCommands(bound)
      let done = 0
      const ask = (id: string) => recent.answer(id, async () => bytesOf(++done))
      for (const id of ['a', 'b', 'c']) await ask(id)
      await ask('c')
      expect(done).toBe(3)
      await ask('a')
      expect(done).toBe(4)
    }
  })

  it('forget none for an answer that is too large to be remembered', async () => {
    const recent = recentCommands({ bytes: 1_000 })
    let done = 0
    const ask = (id: string, bytes: number) =>
      recent.answer(id, async () => {
        done += 1
        return new Uint8Array(bytes)
      })
    await ask('a', 1)
    await ask('b', 2_000)
    await ask('a', 1)
    expect(done).toBe(2)
  })

  it('refuse a command if too many are under way, and forget none of those', async () => {
    const recent = recentCommands({ underWay: 1, answers: 0 })
    const held = Promise.withResolvers<Uint8Array>()
    const first = recent.answer('a', () => held.promise)
    await expect(recent.answer('b', async () => bytesOf(2))).rejects.toMatchObject({ code: 'full' })
    const again = recent.answer('a', () => Promise.reject(new Error('done twice')))
    held.resolve(bytesOf(1))
    expect(await again).toEqual(await first)
  })
})

describe('commands whose caller does not come back', () => {
  /** A command that waits until its `cancelled` aborts. */
  const begun = () => {
    const env = virtualEnv()
    const recent = new RecentCommands(env, { underWay: 1 })
    const received: AbortSignal[] = []
    const ask = () =>
      recent.answer('a', (cancelled) => {
        received.push(cancelled)
        return new Promise((_, reject) =>
          cancelled.addEventListener('abort', () => reject(cancelled.reason as Error))
        )
      })
    const reply = ask().catch((error: unknown) => error)
    return { env, recent, ask, reply, received }
  }

  it('leave nothing behind if their actor gives them up', async () => {
    const { env, recent, ask, reply, received } = begun()
    recent.expectBack('a', 1_000)
    env.advance(1_000)
    expect(await reply).toMatchObject({ code: 'unavailable' })
    expect(await recent.answer('b', async () => bytesOf(2))).toEqual(bytesOf(2))
    void ask().catch(() => {})
    expect(received).toHaveLength(2)
  })

  it('stay under way if their actor continues with them', async () => {
    const env = virtualEnv()
    const recent = new RecentCommands(env)
    const held = Promise.withResolvers<Uint8Array>()
    const first = recent.answer('a', () => held.promise)
    recent.expectBack('a', 1_000)
    env.advance(1_000)
    const second = recent.answer('a', () => Promise.reject(new Error('done twice')))
    held.resolve(bytesOf(1))
    expect(await Promise.all([first, second])).toEqual([bytesOf(1), bytesOf(1)])
  })

  it('are not given up while their caller keeps coming back', async () => {
    const { env, recent, ask, received } = begun()
    for (let times = 0; times < 10; times++) {
      recent.expectBack('a', 1_000)
      env.advance(999)
      void ask().catch(() => {})
    }
    expect(received.map(({ aborted }) => aborted)).toEqual([false])
  })

  it('keep no timer once they are answered', async () => {
    const env = virtualEnv()
    const recent = new RecentCommands(env)
    for (const end of [async () => bytesOf(1), () => Promise.reject(new HeddleError('full')),
      () => Promise.reject(new HeddleError('exists'))]) {
      const id = env.uuid()
      const reply = recent.answer(id, end).catch(() => {})
      recent.expectBack(id, 1_000)
      expect(env.timers()).toBe(1)
      await reply
      expect(env.timers()).toBe(0)
      recent.expectBack(id, 1_000)
      expect(env.timers()).toBe(0)
    }
  })
})
