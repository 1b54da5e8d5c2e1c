/** Routing: here, to the owner elsewhere, or a refusal that names him. */

import { describe, expect, it } from 'vitest'

import { Activations, createInbound, createRouter, inProcessTransport, placedOwnership, soleMember }
  from '../../../cluster/index.ts'
import type { Member } from '../../../cluster/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { Chess, game } from './chess.ts'

const white: Member = { id: 'white', address: 'white:1' }
const black: Member = { id: 'black', address: 'black:1' }

/** A member of a cluster in this process. */
function join(self: Member, members: readonly Member[], transport = inProcessTransport()) {
  const chess = new Chess({ pause: async () => {} })
  const activations = new Activations({ env: virtualEnv(), kinds: [chess.kind] })
  const view = members.length === 1 ? soleMember(self) : { self, members }
  const ownership = placedOwnership({ view, shards: 16, epoch: 3 })
  const inbound = createInbound({ ownership, activations })
  transport.attach(self, inbound)
  return { chess, inbound, router: createRouter({ ownership, activations, transport }) }
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

  it('refuses what is delivered to the wrong member and says who owns it', async () => {
    const { inbound, chess } = join(white, [white, black])
    const answers = await Promise.allSettled(games.map((id) => inbound.ask(game(id), 'move')))
    const refused = answers.filter((answer) => answer.status === 'rejected')
    expect(refused.length + chess.lives.length).toBe(games.length)
    expect(refused[0]?.reason).toMatchObject(
      { code: 'not_owner', retry: 'elsewhere', facts: { owner: black, epoch: 3 } })
    const wrong = game(games[answers.indexOf(refused[0]!)]!)
    await expect(inbound.follow(wrong, null, () => {})).rejects.toMatchObject({ code: 'not_owner' })
  })

  it('says unavailable where the owner cannot be reached', async () => {
    const { router } = join(white, [white, black])
    const answers = await Promise.allSettled(games.map((id) => router.ask(game(id), 'move')))
    const refused = answers.find((answer) => answer.status === 'rejected')
    expect(refused?.reason).toMatchObject({ code: 'unavailable', retry: 'same' })
  })
})
