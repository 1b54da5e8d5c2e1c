/** The gate of acknowledgements: which pass, which wait, and which never pass. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Passage, SessionState } from '../../../../cluster/index.ts'
import { SessionGate } from '../../../../cluster/membership/ownership-check.ts'
import { virtualEnv } from '../../../support/env.ts'

/** A gate whose validations the test ends, in the order in which they began. */
function newGate({ awaitedLeast = 1 } = {}) {
  const env = virtualEnv()
  const reads: PromiseWithResolvers<SessionState | undefined>[] = []
  const fencings: string[] = []
  let ended = 0
  const gate = new SessionGate({
    env,
    validate: () => {
      const read = Promise.withResolvers<SessionState | undefined>()
      reads.push(read)
      return read.promise
    },
    onFenced: (reason) => fencings.push(reason),
    awaitedLeast,
  })
  return {
    env, gate, fencings, reads,
    /** How many validations have begun. */
    begun: () => reads.length,
    async say(state: SessionState | undefined) {
      reads[ended++]!.resolve(state)
      await settle()
    },
    async fail() {
      reads[ended++]!.reject(new Error('no quorum'))
      await settle()
    },
  }
}

/** Passes time in which promises, but no timers, go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** What became of a promise so far. */
function fateOf(promise: Promise<unknown>): { now: 'waits' | 'passed' | 'refused' } {
  const fate: { now: 'waits' | 'passed' | 'refused' } = { now: 'waits' }
  promise.then(() => { fate.now = 'passed' }, () => { fate.now = 'refused' })
  return fate
}

describe('the gate', () => {
  it('opens when a validation says that the session lives', async () => {
    const { gate, begun, say } = newGate()
    const pass = fateOf(gate.pass())
    await settle()
    expect([begun(), pass.now]).toEqual([1, 'waits'])
    await say('alive')
    expect([begun(), pass.now, gate.state]).toEqual([1, 'passed', 'open'])
  })

  it('makes one validation for all passes of one tick', async () => {
    const { gate, begun, say } = newGate()
    const passes = [1, 2, 3].map(() => fateOf(gate.pass()))
    await settle()
    await say('alive')
    expect(passes.map(({ now }) => now)).toEqual(['passed', 'passed', 'passed'])
    expect(begun()).toBe(1)
  })

  it('lets no pass go by a validation that began before it came', async () => {
    const { gate, begun, say } = newGate()
    const early = fateOf(gate.pass())
    await settle()
    const late = [fateOf(gate.pass()), fateOf(gate.pass())]
    await settle()
    expect(begun()).toBe(1)
    await say('alive')
    expect([early.now, late[0]!.now, late[1]!.now]).toEqual(['passed', 'waits', 'waits'])
    await say('alive')
    expect([late[0]!.now, late[1]!.now, begun()]).toEqual(['passed', 'passed', 2])
  })

  it('makes one validation at a time; passes that come meanwhile share the next one', async () => {
    const { gate, begun, say } = newGate()
    const passes = []
    for (const _ of [1, 2, 3]) {
      passes.push(fateOf(gate.pass()))
      await settle()
    }
    expect(begun()).toBe(1)
    await say('alive')
    expect([begun(), ...passes.map(({ now }) => now)]).toEqual([2, 'passed', 'waits', 'waits'])
    await say('alive')
    expect([begun(), ...passes.map(({ now }) => now)]).toEqual([2, 'passed', 'passed', 'passed'])
  })

  it('waits for announced passes, at most eight times as long as the last validation', async () => {
    const { env, gate, begun, say } = newGate()
    void gate.pass()
    await settle()
    env.advance(5)
    await say('alive')
    const slow = gate.approach()
    const late = gate.approach()
    const gone = gate.approach()
    const first = fateOf(gate.pass())
    await settle()
    expect(begun()).toBe(1)
    const second = fateOf(late.pass())
    gone.leave()
    await settle()
    env.advance(39)
    await settle()
    expect(begun()).toBe(1)
    const third = fateOf(slow.pass())
    await settle()
    expect(begun()).toBe(2)
    await say('alive')
    expect([first.now, second.now, third.now]).toEqual(['passed', 'passed', 'passed'])
    // All three have passed and are announced again.
    const fourth = fateOf(gate.pass())
    await settle()
    expect(begun()).toBe(2)
    slow.leave()
    late.leave()
    await settle()
    expect(begun()).toBe(3)
    await say('alive')
    expect([fourth.now, env.timers()]).toEqual(['passed', 0])
  })

  it('does not wait for one that left while it passed', async () => {
    const { gate, begun, say } = newGate()
    const passage = gate.approach()
    const passes = fateOf(passage.pass())
    await settle()
    passage.leave()
    await say('alive')
    expect(passes.now).toBe('passed')
    void gate.pass()
    await settle()
    expect(begun()).toBe(2)
  })

  it('waits only if many are announced', async () => {
    const { gate, begun, say } = newGate({ awaitedLeast: 3 })
    const [first, second, third] = [gate.approach(), gate.approach(), gate.approach()]
    first.leave()
    const few = fateOf(gate.pass())
    await settle()
    expect(begun()).toBe(1)
    await say('alive')
    expect(few.now).toBe('passed')
    const fourth = gate.approach()
    const many = fateOf(gate.pass())
    await settle()
    expect(begun()).toBe(1)
    for (const each of [second, third, fourth]) each.leave()
    await settle()
    await say('alive')
    expect([begun(), many.now]).toEqual([2, 'passed'])
  })

  it('waits only once for one that does not come, and 50 ms at most', async () => {
    const { env, gate, begun, say } = newGate()
    void gate.pass()
    await settle()
    env.advance(100)
    await say('alive')
    const missing = gate.approach()
    void gate.pass()
    await settle()
    env.advance(49)
    await settle()
    expect(begun()).toBe(1)
    env.advance(1)
    await settle()
    expect(begun()).toBe(2)
    await say('alive')
    void gate.pass()
    await settle()
    expect(begun()).toBe(3)
    await say('alive')
    // Since it has come at last, it is announced and waited for again.
    const late = fateOf(missing.pass())
    await settle()
    await say('alive')
    void gate.pass()
    await settle()
    expect([late.now, begun()]).toEqual(['passed', 4])
    missing.leave()
    await settle()
    expect(begun()).toBe(5)
  })

  it('closes when a validation fails, keeps all waiting, and opens by itself', async () => {
    const { env, gate, begun, say, fail, fencings } = newGate()
    const first = fateOf(gate.pass())
    await settle()
    await fail()
    const second = fateOf(gate.pass())
    const third = fateOf(gate.pass())
    expect([gate.state, first.now, second.now, third.now])
      .toEqual(['closed', 'waits', 'waits', 'waits'])
    env.advance(249)
    await settle()
    expect(begun()).toBe(1)
    env.advance(1)
    await fail()
    expect([gate.state, begun()]).toEqual(['closed', 2])
    env.advance(250)
    await say('alive')
    expect([gate.state, first.now, second.now, third.now])
      .toEqual(['open', 'passed', 'passed', 'passed'])
    expect([begun(), fencings.length, env.timers()]).toEqual([3, 0, 0])
  })

  it('logs once that the store is unreachable, and once that it is back', async () => {
    const { env, gate, say, fail } = newGate()
    void gate.pass()
    await settle()
    for (const _ of [1, 2, 3]) {
      await fail()
      env.advance(250)
    }
    await say('alive')
    expect(env.lines.map(({ level }) => level)).toEqual(['warn', 'info'])
  })

  for (const state of ['fenced', 'left', undefined] as const) {
    it(`refuses all, for ever, once its session is read as ${state ?? 'unknown'}`, async () => {
      const { env, gate, begun, say, fencings } = newGate()
      const early = gate.pass()
      await settle()
      const late = gate.pass()
      await Promise.all([
        expect(early).rejects.toMatchObject({ code: 'not_owner' }),
        expect(late).rejects.toMatchObject({ code: 'not_owner' }),
        say(state),
      ])
      await expect(gate.pass()).rejects.toMatchObject({ code: 'not_owner' })
      expect([gate.state, begun(), fencings.length, env.timers()]).toEqual(['fenced', 1, 1, 0])
    })
  }

  it('lets no pass go after it was shut, and reports no fence', async () => {
    const { gate, say, fencings } = newGate()
    const early = gate.pass()
    await settle()
    const late = gate.pass()
    const mark = gate.mark()
    gate.shut()
    await Promise.all([
      expect(early).rejects.toMatchObject({ code: 'not_owner' }),
      expect(late).rejects.toMatchObject({ code: 'not_owner' }),
      say('alive'),
    ])
    await expect(gate.pass()).rejects.toMatchObject({ code: 'not_owner' })
    expect([gate.state, gate.passed(mark - 1), fencings]).toEqual(['fenced', false, []])
  })

  it('makes no more validations if it is shut while closed', async () => {
    const { env, gate, begun, fail } = newGate()
    const pass = gate.pass()
    await settle()
    await fail()
    gate.shut()
    expect(env.timers()).toBe(0)
    await expect(pass).rejects.toMatchObject({ code: 'not_owner' })
    expect(begun()).toBe(1)
  })

  it('knows of a mark whether a validation that began after it succeeded', async () => {
    const { gate, say } = newGate()
    const before = gate.mark()
    void gate.pass()
    await settle()
    const during = gate.mark()
    expect([gate.passed(before), gate.passed(during)]).toEqual([false, false])
    await say('alive')
    expect([gate.passed(before), gate.passed(during)]).toEqual([true, false])
    expect(gate.passed(gate.mark())).toBe(false)
  })

  it('resolves `closing` each time that it closes', async () => {
    const { env, gate, say, fail } = newGate()
    const first = fateOf(gate.closing)
    void gate.pass()
    await settle()
    await fail()
    expect(first.now).toBe('passed')
    env.advance(250)
    await say('alive')
    const second = fateOf(gate.closing)
    await settle()
    expect([gate.state, second.now]).toEqual(['open', 'waits'])
  })

  it('lets no pass go that came after the session ended, whatever the store does', async () => {
    const steps = fc.array(fc.constantFrom('come', 'approach', 'arrive', 'leave',
      'alive', 'fail', 'end', 'wait'),
      { minLength: 5, maxLength: 40 })
    await fc.assert(fc.asyncProperty(steps, async (all) => {
      const env = virtualEnv()
      let [ended, underWay, fencings] = [false, 0, 0]
      const reads: { read: PromiseWithResolvers<SessionState>; lived: boolean }[] = []
      const gate = new SessionGate({
        env,
        validate: () => {
          expect(++underWay).toBe(1)
          const read = Promise.withResolvers<SessionState>()
          reads.push({ read, lived: !ended })
          return read.promise.finally(() => { underWay-- })
        },
        onFenced: () => { fencings++ },
        awaitedLeast: 1,
      })
      const passes: { fate: ReturnType<typeof fateOf>; lived: boolean }[] = []
      const onTheirWay: Passage[] = []
      const come = (pass: Promise<void>) => passes.push({ fate: fateOf(pass), lived: !ended })
      const answer = async (said: 'alive' | 'fail') => {
        const next = reads.shift()
        if (said === 'fail') next?.read.reject(new Error('no quorum'))
        else next?.read.resolve(next.lived ? 'alive' : 'fenced')
        await settle()
      }
      for (const step of all) {
        if (step === 'come') come(gate.pass())
        if (step === 'approach') onTheirWay.push(gate.approach())
        if (step === 'arrive' && onTheirWay.length > 0) come(onTheirWay.shift()!.pass())
        if (step === 'leave') onTheirWay.shift()?.leave()
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
    }), { numRuns: 100 })
  })
})
