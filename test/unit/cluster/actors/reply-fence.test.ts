/** Replies behind an ownership check: which leave, which wait, and which turns are not begun. */

import { describe, expect, it, vi } from 'vitest'

import { ReplyFence } from '../../../../cluster/actors/reply-fence.ts'
import { ActivationTable } from '../../../../cluster/index.ts'
import type { Actor, OwnershipCheck, OwnershipState, Turn } from '../../../../cluster/index.ts'
import { SessionOwnershipCheck } from '../../../../cluster/membership/ownership-check.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'
import { game } from './chess.ts'

/** An ownership check whose validations the test makes. */
class HandCheck implements OwnershipCheck {
  state: OwnershipState = 'open'
  #closing = Promise.withResolvers<void>()
  /** Passes that were asked for: here each needs a validation of its own. */
  asked = 0
  #begun = 0
  #alive = 0
  #waiting: PromiseWithResolvers<void>[] = []

  get closing(): Promise<void> {
    return this.#closing.promise
  }

  confirm(): Promise<void> {
    this.asked++
    const waiting = Promise.withResolvers<void>()
    this.#waiting.push(waiting)
    return waiting.promise
  }

  mark(): number {
    return this.#begun
  }
  confirmed(mark: number): boolean {
    return this.#alive > mark
  }

  validate(): void {
    this.#alive = ++this.#begun
    for (const waiting of this.#waiting.splice(0)) waiting.resolve()
  }

  close(): void {
    this.state = 'closed'
    this.#closing.resolve()
  }

  fence(): void {
    this.#closing.resolve()
    this.state = 'fenced'
    for (const waiting of this.#waiting.splice(0)) waiting.reject(new HeddleError('not_owner'))
  }
}

/** A member with one kind of actor, which runs the turn of each command. */
function host() {
  const env = virtualEnv()
  const check = new HandCheck()
  const received: string[] = []
  const seen: string[] = []
  let followers = 0
  const actor = (notify: (command: unknown) => void): Actor => ({
    occupied: false,
    activate: async () => {},
    passivate: async () => {},
    receive(command): Turn | Promise<Turn> {
      const { name, turn } = command as Command
      received.push(name)
      return turn(notify)
    },
    async follow(request) {
      if (request === 'nothing') throw new HeddleError('not_found')
      followers++
      return () => {
        followers--
      }
    },
  })
  const kind = { name: 'game',
    create: ({ notify }: { notify(command: unknown): void }) => actor(notify) }
  const activations = new ActivationTable({ env, kinds: [kind], check })
  const ask = (name: string, turn: Command['turn']) => {
    const asked = activations.ask(game('a'), 1, { name, turn })
    asked.then(() => seen.push(name), () => seen.push(`no ${name}`))
    return asked
  }
  const follow = (request: unknown) => activations.follow(game('a'), 1, request, null)
  return { env, check, received, seen, ask, follow, followers: () => followers }
}

interface Command {
  readonly name: string
  turn(notify: (command: unknown) => void): Turn | Promise<Turn>
}

/** Passes time in which promises, but no timers, continue. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a reply behind an ownership check', () => {
  it('leaves once the session was alive after the turn', async () => {
    const { check, seen, ask } = host()
    const asked = ask('read', () => ({ reply: 'e4' }))
    await settle()
    expect(seen).toEqual([])
    check.validate()
    expect(await asked).toBe('e4')
  })

  it('costs a read one validation, which begins with its turn', async () => {
    const env = virtualEnv()
    const asked: (() => void)[] = []
    const check = new SessionOwnershipCheck({ env, onFenced: () => {},
      validate: () => new Promise((done) => asked.push(() => done('alive'))) })
    const replies = new ReplyFence(env, check)
    const read = replies.reply(() => ({ reply: 'e4', kind: 'read' }),
      async (act) => (await act({} as Actor)).reply)
    await settle()
    for (const alive of asked) alive()
    expect(await read).toBe('e4')
    expect(asked).toHaveLength(1)
  })

  it('is given up after 20 s in the queue, and its turn is not taken', async () => {
    const { env, check, received, seen, ask } = host()
    const writes = Promise.withResolvers<Turn>()
    const first = ask('first', () => writes.promise)
    const second = ask('second', () => ({ reply: 2 }))
    const refused = expect(second).rejects.toMatchObject({ code: 'unavailable', details: {} })
    env.advance(19_000)
    await settle()
    expect(seen).toEqual([])
    env.advance(1_000)
    await refused
    writes.resolve({ reply: 1 })
    await settle()
    check.validate()
    expect(await first).toBe(1)
    expect(received).toEqual(['first'])
  })

  it('of a read is given up after 20 s', async () => {
    const { env, ask } = host()
    const asked = ask('read', () => ({ reply: new Promise(() => {}), kind: 'read' }))
    const refused = expect(asked).rejects.toMatchObject({ code: 'unavailable', details: {} })
    await settle()
    env.advance(20_000)
    await refused
  })

  it('leaves no listener on the ownership check behind', async () => {
    const { env, check, ask } = host()
    const listened = vi.spyOn(check.closing, 'then')
    for (let time = 0; time < 100; time++) {
      const asked = ask('read', () => ({ reply: 'e4', kind: 'read' }))
      await settle()
      env.advance(3_000)
      check.validate()
      await asked
    }
    expect(listened.mock.calls.length).toBeLessThan(3)
  })

  it('does not count a validation that began before the turn', async () => {
    const { check, seen, ask } = host()
    check.validate()
    void ask('read', () => ({ reply: 'e4' }))
    await settle()
    expect([seen, check.asked]).toEqual([[], 1])
  })

  it('does not count a validation that began while it waited for its turn', async () => {
    const { check, seen, ask } = host()
    const before = Promise.withResolvers<Turn>()
    void ask('before', () => before.promise)
    void ask('read', () => ({ reply: 'e4' }))
    await settle()
    check.validate()
    before.resolve({ reply: 'd4' })
    await settle()
    expect([seen, check.asked]).toEqual([['before'], 1])
  })

  for (const long of [false, true]) {
    const kind = long ? 'a turn that writes' : 'a promised reply that was written'
    it(`takes no second validation after ${kind}`, async () => {
      const { check, ask } = host()
      const written = Promise.withResolvers<string>()
      const asked = ask('write', () =>
        long
          ? written.promise.then((reply) => ({ reply }))
          : { reply: written.promise })
      await settle()
      check.validate()
      written.resolve('e4')
      expect(await asked).toBe('e4')
      expect(check.asked).toBe(0)
    })
  }

  it('does not hold up the next turn', async () => {
    const { check, received, seen, ask } = host()
    void ask('one', () => ({ reply: 1 }))
    void ask('two', () => ({ reply: 2 }))
    await settle()
    expect([received, seen]).toEqual([['one', 'two'], []])
    check.validate()
    await settle()
    expect(seen).toEqual(['one', 'two'])
  })

  it('of a read is validated while it is made', async () => {
    const { check, seen, ask } = host()
    const read = Promise.withResolvers<string>()
    void ask('read', () => ({ reply: read.promise, kind: 'read' }))
    await settle()
    expect(check.asked).toBe(1)
    check.validate()
    await settle()
    expect(seen).toEqual([])
    read.resolve('e4')
    await settle()
    expect([seen, check.asked]).toEqual([['read'], 1])
  })

  it('of a read is refused while the store is unreachable', async () => {
    const { env, check, ask } = host()
    const asked = ask('read', async () => ({ reply: new Promise(() => {}), kind: 'read' }))
    const refused = expect(asked).rejects.toMatchObject({ code: 'unavailable' })
    await settle()
    expect(check.asked).toBe(1)
    check.close()
    env.advance(2_000)
    await refused
  })

  it('is refused two seconds after its own turn if the ownership check closes', async () => {
    const { env, check, seen, ask } = host()
    for (const name of ['one', 'two']) {
      ask(name, () => ({ reply: name })).catch(() => {})
      await settle()
      env.advance(1_000)
    }
    check.close()
    await settle()
    expect(seen).toEqual(['no one'])
    env.advance(1_000)
    await settle()
    expect(seen).toEqual(['no one', 'no two'])
  })

  it('leaves at once if it is early: a later one acknowledges', async () => {
    const { check, ask } = host()
    expect(await ask('early', () => ({ reply: 'e4', kind: 'early' }))).toBe('e4')
    expect(check.asked).toBe(0)
  })

  it('waits even if it is a final refusal, which depends on the state', async () => {
    const { check, seen, ask } = host()
    const thrown = ask('thrown', () => {
      throw new HeddleError('busy')
    })
    const late = ask('late', () => ({ reply: Promise.reject(new HeddleError('not_found')) }))
    const outcomes = Promise.allSettled([thrown, late])
    await settle()
    expect(seen).toEqual([])
    check.validate()
    expect(await outcomes).toMatchObject([{ reason: { code: 'busy' } }, {
      reason: { code: 'not_found' },
    }])
  })

  it('does not wait if it is a refusal that may be retried', async () => {
    const { check, ask } = host()
    await expect(ask('full', () => {
      throw new HeddleError('full')
    }))
      .rejects.toMatchObject({ code: 'full' })
    expect(check.asked).toBe(0)
  })

  it('is refused after two seconds at a closed check', async () => {
    const { env, check, seen, ask } = host()
    const asked = ask('read', () => ({ reply: 'e4' }))
    asked.catch(() => {})
    await settle()
    check.close()
    env.advance(1_999)
    await settle()
    expect(seen).toEqual([])
    env.advance(1)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable', retry: 'same' })
    expect(env.timers()).toBe(1)
  })

  it('waits while the ownership check is open: then the store is only slow', async () => {
    const { env, check, seen, ask } = host()
    const asked = ask('read', () => ({ reply: 'e4' }))
    asked.catch(() => {})
    await settle()
    env.advance(60_000)
    await settle()
    expect(seen).toEqual([])
    check.close()
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('of a write waits for it however long, even if the ownership check is closed', async () => {
    const { env, check, seen, ask } = host()
    const written = Promise.withResolvers<string>()
    const asked = ask('write', () => ({ reply: written.promise }))
    await settle()
    check.close()
    env.advance(60_000)
    await settle()
    expect(seen).toEqual([])
    check.state = 'open'
    check.validate()
    written.resolve('e4')
    expect(await asked).toBe('e4')
  })

  it('is refused at once, and nothing is begun, while the ownership check is closed', async () => {
    const { check, received, ask, follow } = host()
    check.close()
    await expect(ask('write', () => ({ reply: 1 }))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(follow('all')).rejects.toMatchObject({ code: 'unavailable' })
    expect([received, check.asked]).toEqual([[], 0])
  })

  it('never leaves once the session has ended, and no turn begins then', async () => {
    const { check, received, ask } = host()
    const asked = ask('early', () => ({ reply: 1 }))
    asked.catch(() => {})
    await settle()
    check.fence()
    await expect(asked).rejects.toMatchObject({ code: 'internal', details: { ambiguous: true } })
    await expect(ask('late', () => ({ reply: 1 }))).rejects.toMatchObject({ code: 'not_owner' })
    expect(received).toEqual(['early'])
  })

  it('does not delay what an actor tells itself', async () => {
    const { check, received, ask } = host()
    const asked = ask('first', (notify) => {
      check.close()
      notify({ name: 'own', turn: () => ({ reply: undefined }) })
      return { reply: 1 }
    })
    await settle()
    expect(received).toEqual(['first', 'own'])
    check.validate()
    await asked
  })

  it('lets a follow begin only if it passed, and forgets it otherwise', async () => {
    const { check, follow, followers } = host()
    const following = follow('all')
    await settle()
    check.validate()
    const stop = await following
    expect(followers()).toBe(1)
    stop()
    expect(followers()).toBe(0)
    const fenced = follow('all')
    fenced.catch(() => {})
    await settle()
    expect(followers()).toBe(1)
    check.fence()
    await expect(fenced).rejects.toMatchObject({ code: 'not_owner' })
    expect(followers()).toBe(0)
  })
})
