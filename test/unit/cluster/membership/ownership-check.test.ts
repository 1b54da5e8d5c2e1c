/** The ownership check of acknowledgements: which pass, which wait, and which never pass. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { SessionState } from '../../../../cluster/index.ts'
import { SessionOwnershipCheck } from '../../../../cluster/membership/ownership-check.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'

/** An ownership check whose validations the test ends, in the order in which they began. */
function newCheck() {
  const env = virtualEnv()
  const reads: PromiseWithResolvers<SessionState | undefined>[] = []
  const fencings: string[] = []
  let ended = 0
  const check = new SessionOwnershipCheck({
    env,
    validate: () => {
      const read = Promise.withResolvers<SessionState | undefined>()
      reads.push(read)
      return read.promise
    },
    onFenced: (reason) => fencings.push(reason),
  })
  return {
    env,
    check,
    fencings,
    reads,
    /** How many validations have begun. */
    begun: () => reads.length,
    async send(state: SessionState | undefined) {
      reads[ended++]!.resolve(state)
      await settle()
    },
    async fail() {
      reads[ended++]!.reject(new Error('no quorum'))
      await settle()
    },
  }
}

/** Passes time in which promises, but no timers, continue. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** What became of a promise so far. */
function fateOf(promise: Promise<unknown>): { now: 'waits' | 'passed' | 'refused' } {
  const fate: { now: 'waits' | 'passed' | 'refused' } = { now: 'waits' }
  promise.then(() => {
    fate.now = 'passed'
  }, () => {
    fate.now = 'refused'
  })
  return fate
}

describe('the ownership check', () => {
  it('opens when a validation says that the session lives', async () => {
    const { check, begun, send } = newCheck()
    const confirm = fateOf(check.confirm())
    await settle()
    expect([begun(), confirm.now]).toEqual([1, 'waits'])
    await send('alive')
    expect([begun(), confirm.now, check.state]).toEqual([1, 'passed', 'open'])
  })

  it('makes one validation for all passes of one tick', async () => {
    const { check, begun, send } = newCheck()
    const passes = [1, 2, 3].map(() => fateOf(check.confirm()))
    await settle()
    await send('alive')
    expect(passes.map(({ now }) => now)).toEqual(['passed', 'passed', 'passed'])
    expect(begun()).toBe(1)
  })

  it('confirms nothing by a validation that began before it was asked', async () => {
    const { check, begun, send } = newCheck()
    const early = fateOf(check.confirm())
    await settle()
    const late = [fateOf(check.confirm()), fateOf(check.confirm())]
    await settle()
    expect(begun()).toBe(1)
    await send('alive')
    expect([early.now, late[0]!.now, late[1]!.now]).toEqual(['passed', 'waits', 'waits'])
    await send('alive')
    expect([late[0]!.now, late[1]!.now, begun()]).toEqual(['passed', 'passed', 2])
  })

  it('makes one validation at a time; passes that come meanwhile share the next one', async () => {
    const { check, begun, send } = newCheck()
    const passes = []
    for (const _ of [1, 2, 3]) {
      passes.push(fateOf(check.confirm()))
      await settle()
    }
    expect(begun()).toBe(1)
    await send('alive')
    expect([begun(), ...passes.map(({ now }) => now)]).toEqual([2, 'passed', 'waits', 'waits'])
    await send('alive')
    expect([begun(), ...passes.map(({ now }) => now)]).toEqual([2, 'passed', 'passed', 'passed'])
  })

  it('closes when a validation fails, keeps all waiting, and opens by itself', async () => {
    const { env, check, begun, send, fail, fencings } = newCheck()
    const first = fateOf(check.confirm())
    await settle()
    await fail()
    const second = fateOf(check.confirm())
    const third = fateOf(check.confirm())
    expect([check.state, first.now, second.now, third.now])
      .toEqual(['closed', 'waits', 'waits', 'waits'])
    env.advance(249)
    await settle()
    expect(begun()).toBe(1)
    env.advance(1)
    await fail()
    expect([check.state, begun()]).toEqual(['closed', 2])
    env.advance(250)
    await send('alive')
    expect([check.state, first.now, second.now, third.now])
      .toEqual(['open', 'passed', 'passed', 'passed'])
    expect([begun(), fencings.length, env.timers()]).toEqual([3, 0, 0])
  })

  it('logs once that the store is unreachable, and once that it is back', async () => {
    const { env, check, send, fail } = newCheck()
    void check.confirm()
    await settle()
    for (const _ of [1, 2, 3]) {
      await fail()
      env.advance(250)
    }
    await send('alive')
    expect(env.lines.map(({ level }) => level)).toEqual(['warn', 'info'])
  })

  for (const state of ['fenced', 'left', undefined] as const) {
    it(`refuses all, for ever, once its session is read as ${state ?? 'unknown'}`, async () => {
      const { env, check, begun, send, fencings } = newCheck()
      const early = check.confirm()
      await settle()
      const late = check.confirm()
      await Promise.all([
        expect(early).rejects.toMatchObject({ code: 'not_owner' }),
        expect(late).rejects.toMatchObject({ code: 'not_owner' }),
        send(state),
      ])
      await expect(check.confirm()).rejects.toMatchObject({ code: 'not_owner' })
      expect([check.state, begun(), fencings.length, env.timers()]).toEqual(['fenced', 1, 1, 0])
    })
  }

  it('confirms nothing after it was shut, and reports no fence', async () => {
    const { check, send, fencings } = newCheck()
    const early = check.confirm()
    await settle()
    const late = check.confirm()
    const mark = check.mark()
    check.shut()
    await Promise.all([
      expect(early).rejects.toMatchObject({ code: 'not_owner' }),
      expect(late).rejects.toMatchObject({ code: 'not_owner' }),
      send('alive'),
    ])
    await expect(check.confirm()).rejects.toMatchObject({ code: 'not_owner' })
    expect([check.state, check.confirmed(mark - 1), fencings]).toEqual(['fenced', false, []])
  })

  it('makes no more validations if it is shut while closed', async () => {
    const { env, check, begun, fail } = newCheck()
    const confirm = check.confirm()
    await settle()
    await fail()
    check.shut()
    expect(env.timers()).toBe(0)
    await expect(confirm).rejects.toMatchObject({ code: 'not_owner' })
    expect(begun()).toBe(1)
  })

  it('knows of a mark whether a validation that began after it succeeded', async () => {
    const { check, send } = newCheck()
    const before = check.mark()
    void check.confirm()
    await settle()
    const during = check.mark()
    expect([check.confirmed(before), check.confirmed(during)]).toEqual([false, false])
    await send('alive')
    expect([check.confirmed(before), check.confirmed(during)]).toEqual([true, false])
    expect(check.confirmed(check.mark())).toBe(false)
  })

  it('resolves `closing` each time that it closes', async () => {
    const { env, check, send, fail } = newCheck()
    const first = fateOf(check.closing)
    void check.confirm()
    await settle()
    await fail()
    expect(first.now).toBe('passed')
    env.advance(250)
    await send('alive')
    const second = fateOf(check.closing)
    await settle()
    expect([check.state, second.now]).toEqual(['open', 'waits'])
  })

  it('confirms nothing asked after the session ended, whatever the store does', async () => {
    const steps = fc.array(
      fc.constantFrom('come', 'alive', 'fail', 'end', 'wait'),
      { minLength: 5, maxLength: 40 },
    )
    await expectAlways(fc.asyncProperty(steps, async (all) => {
      const env = virtualEnv()
      let [ended, underWay, fencings] = [false, 0, 0]
      const reads: { read: PromiseWithResolvers<SessionState>; lived: boolean }[] = []
      const check = new SessionOwnershipCheck({
        env,
        validate: () => {
          expect(++underWay).toBe(1)
          const read = Promise.withResolvers<SessionState>()
          reads.push({ read, lived: !ended })
          return read.promise.finally(() => {
            underWay--
          })
        },
        onFenced: () => {
          fencings++
        },
      })
      const passes: { fate: ReturnType<typeof fateOf>; lived: boolean }[] = []
      const come = (confirm: Promise<void>) => passes.push({ fate: fateOf(confirm), lived: !ended })
      const answer = async (said: 'alive' | 'fail') => {
        const next = reads.shift()
        if (said === 'fail') next?.read.reject(new Error('no quorum'))
        else next?.read.resolve(next.lived ? 'alive' : 'fenced')
        await settle()
      }
      for (const step of all) {
        if (step === 'come') come(check.confirm())
        if (step === 'alive' || step === 'fail') await answer(step)
        if (step === 'end') ended = true
        if (step === 'wait') env.advance(250)
        await settle()
      }
      while (passes.some(({ fate }) => fate.now === 'waits')) {
        env.advance(250)
        await settle()
        await answer('alive')
      }
      for (const { fate, lived } of passes) if (!lived) expect(fate.now).toBe('refused')
      if (!ended) expect(passes.every(({ fate }) => fate.now === 'passed')).toBe(true)
      expect(fencings).toBeLessThanOrEqual(1)
    }), { share: 5 })
  })
})
