/** Routing: to an actor here, to its owner elsewhere, and again until an owner has it. */

import { describe, expect, it } from 'vitest'

import { ActivationTable, createInbound, createRouter, inProcessTransport, placedOwnership,
  plainValues, soleMember } from '../../../../cluster/index.ts'
import type { Delivery, Member, Owner, Ownership, Service,
  Transport } from '../../../../cluster/index.ts'
import { memberAsker } from '../../../../cluster/routing/router.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'
import { Chess, game } from '../actors/chess.ts'
import { settle } from '../membership/arbiter.ts'

const white: Member = { id: 'white', address: 'white:1' }
const black: Member = { id: 'black', address: 'black:1' }
const red: Member = { id: 'red', address: 'red:1' }

/** A member of a cluster in this process. */
function join(self: Member, members: readonly Member[], transport = inProcessTransport()) {
  const env = virtualEnv()
  const chess = new Chess({ pause: async () => {} })
  const activations = new ActivationTable({ env, kinds: [chess.kind] })
  const view = members.length === 1 ? soleMember(self) : { self, members }
  const ownership = placedOwnership({ view, shards: 16, epoch: 3 })
  const inbound = createInbound({ ownership, activations, services: [] })
  transport.attach(self, inbound)
  return { chess, inbound, router: createRouter({ env, ownership, activations, transport }) }
}

const games = Array.from({ length: 40 }, (_, number) => `${number}`)

describe('the router', () => {
  it('finds every actor here in a cluster of one', async () => {
    const { chess, router } = join(white, [white])
    await Promise.all(games.map((id) => router.ask(game(id), 'move')))
    expect(chess.lives).toHaveLength(games.length)
    expect(chess.lives[0]?.context.epoch).toBe(3)
  })

  it('reaches each actor at its one owner, from any member', async () => {
    const transport = inProcessTransport()
    const members = [white, black].map((self) => join(self, [white, black], transport))
    for (const { router } of members) {
      await Promise.all(games.map((id) => router.ask(game(id), 'move')))
    }
    const [whites, blacks] = members.map(({ chess }) => chess.lives.map((life) => life.key.id))
    expect([...whites!, ...blacks!].toSorted()).toEqual(games.toSorted())
    expect(Math.min(whites!.length, blacks!.length)).toBeGreaterThan(0)
  })

  it('follows an actor of another member', async () => {
    const transport = inProcessTransport()
    const members = [white, black].map((self) => join(self, [white, black], transport))
    for (const { router } of members) {
      const moves: unknown[] = []
      const stop = await router.follow(game('7'), null, (move: unknown) => moves.push(move))
      await router.ask(game('7'), 'move')
      stop()
      await router.ask(game('7'), 'move')
      expect(moves).toHaveLength(1)
    }
  })

  it('refuses what is delivered to the wrong member and names the owner', async () => {
    const { inbound, chess } = join(white, [white, black])
    const answers = await Promise.allSettled(games.map((id) => inbound.ask(game(id), 'move')))
    const refused = answers.filter((answer) => answer.status === 'rejected')
    expect(refused.length + chess.lives.length).toBe(games.length)
    expect(refused[0]?.reason).toMatchObject(
      { code: 'not_owner', retry: 'elsewhere', details: { owner: black, epoch: 3 } },
    )
    const wrong = game(games[answers.indexOf(refused[0]!)]!)
    await expect(inbound.follow(wrong, null, () => {})).rejects.toMatchObject({ code: 'not_owner' })
  })
})

interface Sent extends Delivery {
  readonly to: string
}

/** A member that asks others, which answer as the test says; `set` changes the owner. */
function asking(first: Owner | undefined) {
  const env = virtualEnv()
  const sent: Sent[] = []
  const doubts: number[] = []
  const state = { owner: first, change: Promise.withResolvers<void>() }
  const set = (owner: Owner | undefined) => {
    state.owner = owner
    state.change.resolve()
    state.change = Promise.withResolvers()
  }
  const ownership: Ownership = {
    shards: 1,
    self: white,
    ownerOf: () => state.owner,
    changed: () => state.change.promise,
    learn: (_, owner) => set(owner),
    doubt: (shard) => doubts.push(shard),
  }
  const answers: (() => Promise<unknown>)[] = []
  const transport: Transport = {
    deliver: async (to, _key, _command, delivery) => {
      sent.push({ to: to.id, ...delivery })
      return await (answers.shift() ?? (async () => 'heard'))()
    },
    follow: () => Promise.reject(new Error('nobody follows')),
  }
  const chess = new Chess({ pause: async () => {} })
  const activations = new ActivationTable({ env, kinds: [chess.kind],
    owns: () => state.owner?.member === white })
  const router = createRouter({ env, ownership, activations, transport })
  return { env, set, sent, doubts, answers, router, chess, activations }
}

const unreachable = () =>
  Promise.reject(
    new HeddleError('unavailable', 'Nobody answers.', { unreachable: 'refused' }),
  )
const open = () =>
  Promise.reject(
    new HeddleError('internal', 'The connection broke.', { ambiguous: true }),
  )
const notOwner = (details: object) => () =>
  Promise.reject(
    new HeddleError('not_owner', undefined, { ...details }),
  )

describe('a router whose owners change', () => {
  it('asks the owner that a not_owner answer names, under the same id', async () => {
    const { answers, router, sent } = asking({ member: black, epoch: 4 })
    answers.push(notOwner({ owner: red, epoch: 5 }))
    expect(await router.ask(game('a'), 'move')).toBe('heard')
    expect(sent.map(({ to }) => to)).toEqual(['black', 'red'])
    expect(sent[0]?.id).toBe(sent[1]?.id)
    expect(sent[0]?.id).toBeDefined()
  })

  it('doubts an owner that refuses and names no newer one, and waits for a change', async () => {
    const { answers, doubts, router, sent, set } = asking({ member: black, epoch: 4 })
    answers.push(notOwner({ owner: red, epoch: 3 }))
    const asked = router.ask(game('a'), 'move')
    await settle()
    expect([doubts, sent.length]).toEqual([[0], 1])
    set({ member: red, epoch: 5 })
    expect(await asked).toBe('heard')
  })

  it('waits while no owner is known, and asks the next one', async () => {
    const { router, sent, set } = asking(undefined)
    const asked = router.ask(game('a'), 'move')
    await settle()
    expect(sent).toEqual([])
    set({ member: red, epoch: 1 })
    expect(await asked).toBe('heard')
  })

  it('tries the same owner again after a pause', async () => {
    const { env, answers, router, sent } = asking({ member: black, epoch: 4 })
    answers.push(unreachable, open)
    const asked = router.ask(game('a'), 'move')
    for (const _ of [1, 2]) {
      await settle()
      env.advance(100)
    }
    expect(await asked).toBe('heard')
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
    expect([sent.length, env.timers()]).toEqual([3, 1])
  })

  it('passes on the refusal of an actor at once', async () => {
    const { answers, router, sent } = asking({ member: black, epoch: 4 })
    answers.push(() => Promise.reject(new HeddleError('full')))
    await expect(router.ask(game('a'), 'move')).rejects.toMatchObject({ code: 'full' })
    expect(sent).toHaveLength(1)
  })

  /** Asks until it fails; `ms` is when that was. */
  async function outcome(answersOf: (number: number) => () => Promise<unknown>) {
    const { env, answers, router, sent } = asking({ member: black, epoch: 4 })
    for (let tries = 0; tries <= 500; tries++) answers.push(answersOf(tries))
    const failed = router.ask(game('a'), 'move').then(
      () => {
        throw new Error('it was answered')
      },
      (error: unknown) => ({ error, ms: env.monotonicMs() }),
    )
    for (let tries = 0; tries < 500; tries++) {
      await settle()
      env.advance(100)
    }
    return { ...await failed, sent }
  }

  it('answers unavailable after twenty seconds without an owner', async () => {
    const { error, sent, ms } = await outcome(() => unreachable)
    expect(error).toMatchObject({ code: 'unavailable', details: {} })
    expect(ms).toBeCloseTo(20_000, -3)
    expect(sent.length).toBeGreaterThan(150)
  })

  it('waits longer, and answers ambiguous, if one try may have been received', async () => {
    const full = () => Promise.reject(new HeddleError('full'))
    const { error, ms } = await outcome((number) =>
      number === 3
        ? open
        : number < 3
        ? unreachable
        : full
    )
    expect(error).toMatchObject({ code: 'internal', details: { ambiguous: true } })
    expect(ms).toBeCloseTo(45_000, -3)
  })

  it('marks a refusal that follows a try that may have been received', async () => {
    const missing = () => Promise.reject(new HeddleError('not_found'))
    const { error } = await outcome((number) => number === 0 ? open : missing)
    expect(error).toMatchObject({ code: 'not_found', details: { again: true } })
    const { error: first } = await outcome(() => missing)
    expect((first as HeddleError).details).toEqual({})
  })

  it('repeats a command elsewhere under the same id if it may have been received here',
    async () => {
      const { env, set, router, sent, activations } = asking({ member: white, epoch: 4 })
      const ids: unknown[] = []
      activations.ask = (_key, _epoch, _command, id) => {
        ids.push(id)
        set({ member: black, epoch: 5 })
        return open()
      }
      const asked = router.ask(game('a'), 'move')
      env.advance(100)
      expect(await asked).toBe('heard')
      expect(sent.map(({ to, id }) => [to, id])).toEqual([['black', ids[0]]])
      expect(ids[0]).toBeDefined()
    })

  it('stops trying when nobody waits for the reply any more', async () => {
    const { env, answers, router, sent } = asking({ member: black, epoch: 4 })
    answers.push(open, open)
    const leaving = new AbortController()
    const left = new HeddleError('unavailable', 'The client went.')
    const asked = router.ask(game('a'), 'move', leaving.signal).catch((error: unknown) => error)
    await settle()
    env.advance(100)
    await settle()
    leaving.abort(left)
    env.advance(100)
    expect(await asked).toBe(left)
    expect(sent.map(({ cancelled }) => cancelled)).toEqual([leaving.signal, leaving.signal])
  })

  it('passes the signal of the caller to an actor, here and elsewhere', async () => {
    const transport = inProcessTransport()
    const members = [white, black].map((self) => join(self, [white, black], transport))
    const { signal } = new AbortController()
    await Promise.all(games.map((id) => members[0]!.router.ask(game(id), 'move', signal)))
    const lives = members.flatMap(({ chess }) => chess.lives)
    expect(lives.map(({ cancelled }) => cancelled)).toEqual(games.map(() => signal))
  })

  it('goes to the next owner when this member owns the shard no more', async () => {
    const { router, sent, set, chess } = asking({ member: white, epoch: 4 })
    await router.ask(game('a'), 'move')
    expect(chess.lives).toHaveLength(1)
    set({ member: white, epoch: 5 })
    const moved = router.ask(game('b'), 'move')
    expect(await moved).toBe(1)
    set({ member: black, epoch: 6 })
    expect(await router.ask(game('a'), 'move')).toBe('heard')
    expect(sent.map(({ to }) => to)).toEqual(['black'])
  })
})

describe('a question to a member', () => {
  const service = (name: string): Service => ({
    name,
    wire: { values: plainValues },
    answer: async (question) => `${name}: ${question}`,
  })

  it('is answered by the named service, there or here', async () => {
    const transport = inProcessTransport()
    const env = virtualEnv()
    const activations = new ActivationTable({ env, kinds: [] })
    const ownership = placedOwnership({ view: soleMember(black), shards: 1, epoch: 1 })
    transport.attach(black, createInbound({ ownership, activations, services: [service('rook')] }))
    const ask = memberAsker({ transport, self: white, services: [service('queen')] })
    expect(await ask(black, 'rook', 'where')).toBe('rook: where')
    expect(await ask(white, 'queen', 'where')).toBe('queen: where')
    await expect(ask(red, 'rook', 'where')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('is aborted when nobody waits for the answer any more', async () => {
    const transport = inProcessTransport()
    const activations = new ActivationTable({ env: virtualEnv(), kinds: [] })
    const ownership = placedOwnership({ view: soleMember(black), shards: 1, epoch: 1 })
    const signals: (AbortSignal | undefined)[] = []
    const waiting: Service = { ...service('rook'), answer: async (_, cancelled) => {
      signals.push(cancelled)
    } }
    transport.attach(black, createInbound({ ownership, activations, services: [waiting] }))
    const ask = memberAsker({ transport, self: white, services: [{ ...waiting, name: 'queen' }] })
    const gone = AbortSignal.abort()
    await ask(black, 'rook', 'where', gone)
    await ask(white, 'queen', 'where', gone)
    expect(signals).toEqual([gone, gone])
  })
})
