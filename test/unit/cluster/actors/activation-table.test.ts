/** The actors of a member: made on demand, released when idle, never too many. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ActivationTable } from '../../../../cluster/index.ts'
import type { ActorKey } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'
import { Chess, game } from './chess.ts'
import type { Command, Table } from './chess.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const minute = 60_000

function host(
  { limit, table, owns }: { limit?: number; table?: Table;
    owns?: (key: ActorKey, epoch: number) => boolean } = {},
) {
  const env = virtualEnv()
  const chess = new Chess(table ?? { pause: async () => {} })
  const activations = new ActivationTable({
    env,
    kinds: [chess.kind],
    ...(limit && { limit }),
    ...(owns && { owns }),
  })
  const ask = (id: string, command: Command = 'move') => activations.ask(game(id), 1, command)
  return { env, chess, activations, ask }
}

/** Passes time in which promises, but no timers, continue. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** A table whose pauses the test ends. */
function slowTable() {
  const ends: (() => void)[] = []
  const table: Table = { pause: () =>
    new Promise((resolve) => {
      ends.push(resolve)
    }) }
  return { table, endPauses: async () => {
    await settle()
    for (const end of ends.splice(0)) end()
    await settle()
  } }
}

describe('the table of activations', () => {
  it('releases an actor that was asked nothing for ten minutes, and only of that', async () => {
    const { env, chess, activations, ask } = host()
    await Promise.all([ask('a'), ask('b')])
    env.advance(6 * minute)
    await ask('b')
    env.advance(5 * minute)
    await settle()
    expect(activations.size).toBe(1)
    expect(chess.alive('a')).toBeUndefined()
    expect(chess.lives[0]?.end).toBe('peace')
    expect(await ask('b')).toBe(3)
    expect(await ask('a')).toBe(1)
  })

  it('counts actors by kind, with waiting commands and failures', async () => {
    const { table, endPauses } = slowTable()
    const { activations, ask } = host({ table })
    const asked = [ask('a'), ask('a'), ask('a'), ask('b')]
    await settle()
    expect(activations.stats().get('game')).toEqual(
      { alive: 2, begun: 2, failed: 0, waiting: 4, fullest: 3 },
    )
    await endPauses()
    await Promise.all(asked)
    await expect(ask('b', 'blunder')).rejects.toThrow()
    await endPauses()
    expect(activations.stats().get('game')).toEqual(
      { alive: 1, begun: 2, failed: 1, waiting: 0, fullest: 0 },
    )
  })

  it('uses one timer for all actors', async () => {
    const { env, ask } = host()
    await Promise.all(['a', 'b', 'c'].map((id) => ask(id)))
    expect(env.timers()).toBe(1)
  })

  it('keeps a followed actor until ten minutes after the follow', async () => {
    const { env, activations, ask } = host()
    const moves: number[] = []
    const stop = await activations.follow(game('a'), 1, null, (move: number) => moves.push(move))
    env.advance(60 * minute)
    await settle()
    expect(await ask('a')).toBe(1)
    expect(moves).toEqual([1])
    stop()
    env.advance(12 * minute)
    await settle()
    expect(activations.size).toBe(0)
  })

  it('refuses a follow of a kind that has nothing to follow', async () => {
    const actor = { occupied: false, activate: async () => {}, passivate: async () => {},
      receive: () => ({ reply: 'done' }) }
    const kinds = [{ name: 'game', create: () => actor }]
    const activations = new ActivationTable({ env: virtualEnv(), kinds })
    await expect(activations.follow(game('a'), 1, null, null)).rejects
      .toMatchObject({ code: 'unsupported' })
    expect(await activations.ask(game('a'), 1, 'move')).toBe('done')
  })

  it('keeps an actor that still owes a promised reply', async () => {
    const { table, endPauses } = slowTable()
    const { env, activations, ask } = host({ table })
    const asked = ask('a', 'publish')
    await endPauses()
    env.advance(60 * minute)
    await settle()
    expect(activations.size).toBe(1)
    await endPauses()
    expect(await asked).toBe(1)
  })

  it('hands envelopes that come while a life ends to the next one, in order', async () => {
    const { table, endPauses } = slowTable()
    const { env, chess, ask } = host({ table })
    void ask('a')
    await endPauses()
    env.advance(11 * minute)
    const asked = [ask('a', 'move'), ask('a', 'retell'), ask('a', 'publish')]
    expect(chess.lives).toHaveLength(1)
    await endPauses()
    expect(chess.lives).toHaveLength(2)
    await endPauses()
    await endPauses()
    expect(await Promise.all(asked)).toEqual([1, 2, 3])
    expect(chess.lives[1]?.received).toEqual(['move', 'retell', 'publish', 'move'])
  })

  it('makes room at the bound by releasing the least recently used', async () => {
    const { chess, activations, ask } = host({ limit: 2 })
    await ask('a')
    await ask('b')
    await ask('a')
    await ask('c')
    await settle()
    expect(activations.size).toBe(2)
    expect(['a', 'b', 'c'].filter((id) => chess.alive(id))).toEqual(['a', 'c'])
  })

  it('answers full if all are occupied, and never releases an occupied one', async () => {
    const { chess, activations, ask } = host({ limit: 2 })
    await activations.follow(game('a'), 1, null, () => {})
    await activations.follow(game('b'), 1, null, () => {})
    await expect(ask('c')).rejects.toMatchObject({ code: 'full' })
    expect(await ask('a')).toBe(1)
    expect(chess.alive('a') && chess.alive('b')).toBeTruthy()
  })

  it('wakes an actor without a command', async () => {
    const { chess, activations } = host()
    await activations.wake(game('a'), 7)
    expect(chess.alive('a')?.received).toEqual([])
    expect(chess.alive('a')?.context.epoch).toBe(7)
  })

  it('releases all when it closes, even occupied ones, and refuses later commands', async () => {
    const { env, chess, activations, ask } = host()
    await ask('a')
    await activations.follow(game('b'), 1, null, () => {})
    const beginning = ask('c')
    const closing = activations.close(new AbortController().signal)
    await expect(ask('a')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(ask('d')).rejects.toMatchObject({ code: 'unavailable' })
    await closing
    expect(await beginning).toBe(1)
    expect(chess.lives.map((life) => life.end)).toEqual(['peace', 'peace', 'peace'])
    expect([activations.size, env.timers()]).toEqual([0, 0])
  })

  it('revives an actor that failed while occupied, with growing pauses while that fails',
    async () => {
      const starts: number[] = []
      let broken = false
      const { env, chess, activations, ask } = host({ table: { pause: async () => {}, begin: () => {
        starts.push(env.monotonicMs())
        if (broken) throw new Error('no board')
      } } })
      await activations.follow(game('a'), 1, null, () => {})
      broken = true
      await expect(ask('a', 'resign')).rejects.toThrow()
      for (let second = 0; second < 16; second++) {
        env.advance(1_000)
        await settle()
      }
      const afterMs = starts.slice(1).map((startMs) => startMs - starts[0]!)
      expect(afterMs).toEqual([1_000, 3_000, 7_000, 11_000, 15_000])
      broken = false
      env.advance(4_000)
      await settle()
      expect(chess.alive('a')).toBeDefined()
    })

  it('logs failures by an unavailable store every ten seconds at most, and others each time',
    async () => {
      let error: Error = new HeddleError('unavailable', 'The disk is full.')
      const { env, ask } = host({ table: { pause: async () => {}, begin: () => {
        throw error
      } } })
      const fail = (id: string) => expect(ask(id)).rejects.toThrow()
      await fail('a')
      await fail('b')
      await fail('a')
      expect(env.lines).toHaveLength(1)
      expect(env.lines[0]).toMatchObject({ details: { key: game('a'), error } })
      env.advance(10_000)
      await fail('b')
      expect(env.lines[1]).toMatchObject({ details: { key: game('b'), omitted: 2 } })
      error = new Error('no board')
      await fail('a')
      await fail('a')
      expect(env.lines.slice(2).map(({ details }) => details)).toEqual(
        [{ key: game('a'), error }, { key: game('a'), error }],
      )
    })

  it('does not revive an actor that was idle, or that lives elsewhere by then', async () => {
    const mine = new Set(['a', 'b'])
    const { env, activations, ask } = host({ owns: ({ id }) => mine.has(id) })
    await ask('a')
    await expect(ask('a', 'resign')).rejects.toThrow()
    expect(env.timers()).toBe(1)
    await activations.follow(game('b'), 1, null, () => {})
    await expect(ask('b', 'resign')).rejects.toThrow()
    await settle()
    expect(env.timers()).toBe(2)
    mine.clear()
    env.advance(1_000)
    await settle()
    expect(env.timers()).toBe(1)
  })

  it('releases no actor during a turn', async () => {
    const { table, endPauses } = slowTable()
    const { chess, activations, ask } = host({ table })
    const pondered = ask('a', 'ponder')
    await endPauses()
    const closing = activations.close(new AbortController().signal)
    await settle()
    expect(chess.lives[0]!.end).toBeUndefined()
    await endPauses()
    expect([await pondered, chess.lives[0]!.end]).toEqual([1, 'peace'])
    await endPauses()
    await closing
  })

  it('answers unavailable once it closes, even to envelopes for an actor that was ending before',
    async () => {
      const { table, endPauses } = slowTable()
      const { env, activations, ask } = host({ table })
      void ask('a')
      await endPauses()
      env.advance(11 * minute)
      const seen: string[] = []
      const waits = (who: string) => void ask('a').catch(({ code }) => seen.push(`${who} ${code}`))
      waits('one')
      const closing = activations.close(new AbortController().signal)
      waits('another')
      await settle()
      expect(seen).toEqual(['another unavailable'])
      await endPauses()
      expect(seen).toEqual(['another unavailable', 'one unavailable'])
      await closing
    })

  it('activates no actor that may not live here in that epoch', async () => {
    const { chess, activations, ask } = host({ owns: ({ id }, epoch) => id === 'a' && epoch === 1 })
    expect(await ask('a')).toBe(1)
    await expect(ask('b')).rejects.toMatchObject({ code: 'not_owner' })
    await expect(activations.wake(game('a'), 1)).resolves.toBeUndefined()
    await expect(activations.wake(game('c'), 2)).rejects.toMatchObject({ code: 'not_owner' })
    expect(chess.lives).toHaveLength(1)
  })

  it('releases a group, and answers its later commands not_owner', async () => {
    const { table, endPauses } = slowTable()
    const mine = new Set(['a', 'b'])
    const { chess, activations, ask } = host({ table, owns: ({ id }) => mine.has(id) })
    const playing = [ask('a', 'publish'), ask('b')]
    await endPauses()
    mine.delete('a')
    const going = activations.release(({ id }) => id === 'a' ? 'his' : undefined,
      new AbortController().signal)
    const late = ask('a')
    late.catch(() => {})
    await endPauses()
    await endPauses()
    expect(await Promise.all(playing)).toEqual([1, 1])
    expect([...going.keys()]).toEqual(['his'])
    expect(await going.get('his')).toEqual([game('a')])
    await expect(late).rejects.toMatchObject({ code: 'not_owner' })
    expect([chess.alive('a'), chess.lives[0]?.end]).toEqual([undefined, 'peace'])
    expect(chess.alive('b')).toBeDefined()
    await expect(ask('a')).rejects.toMatchObject({ code: 'not_owner' })
  })

  it('never releases an occupied one and never exceeds the limit, whatever is asked', async () => {
    const steps = fc.array(fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      what: fc.constantFrom('ask', 'follow', 'stop', 'rest'),
    }), { maxLength: 60 })
    await expectAlways(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), async (all, limit) => {
        const { env, chess, activations, ask } = host({ limit })
        const stops = new Map<string, () => void>()
        const follow = async (id: string) => {
          stops.set(id, await activations.follow(game(id), 1, null, () => {}))
        }
        for (const { id, what } of all) {
          if (what === 'ask') await ask(id).catch(() => {})
          if (what === 'follow' && !stops.has(id)) await follow(id).catch(() => {})
          if (what === 'stop') stops.get(id)?.()
          if (what === 'stop') stops.delete(id)
          if (what === 'rest') env.advance(4 * minute)
          await settle()
          for (const followed of stops.keys()) expect(chess.alive(followed)).toBeDefined()
          expect(activations.size).toBeLessThanOrEqual(limit)
        }
      }),
      { share: 5 },
    )
  })
})
