/** The life of an activation: it begins on demand, and nobody is left waiting if it fails. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ActivationTable } from '../../../../cluster/index.ts'
import type { Actor, ActorContext } from '../../../../cluster/index.ts'
import { CodedError, HeddleError } from '../../../../src/errors.ts'
import { virtualEnv } from '../../../support/env.ts'
import { Chess, game } from './chess.ts'
import type { Command, Table } from './chess.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const atOnce: Table = { pause: async () => {} }

function host(table: Table = atOnce) {
  const env = virtualEnv()
  const chess = new Chess(table)
  const activations = new ActivationTable({ env, kinds: [chess.kind] })
  const ask = (command: Command, id = 'a') => activations.ask(game(id), 1, command)
  return { env, chess, activations, ask }
}

describe('an activation', () => {
  it('begins with the first command and then takes all that came meanwhile, in order', async () => {
    const { chess, ask } = host()
    expect(await Promise.all([ask('move'), ask('ponder'), ask('move')])).toEqual([1, 2, 3])
    expect(chess.lives).toHaveLength(1)
    expect(chess.alive('a')?.context.epoch).toBe(1)
  })

  it('fails all that wait if it cannot begin, and the next command tries again', async () => {
    let starts = 0
    const begin = () => {
      if (++starts === 1) throw new HeddleError('not_found')
    }
    const { ask, activations } = host({ ...atOnce, begin })
    const waiting = await Promise.allSettled([ask('move'), ask('move')])
    expect(waiting).toMatchObject([{ reason: { code: 'not_found' } }, {
      reason: { code: 'not_found' },
    }])
    expect(activations.size).toBe(0)
    expect(await ask('move')).toBe(1)
  })

  it('survives a refused command', async () => {
    const { chess, ask } = host()
    await expect(ask('illegal')).rejects.toMatchObject({ code: 'rejected' })
    expect(await ask('move')).toBe(2)
    expect(chess.lives).toHaveLength(1)
  })

  it.each(['blunder', 'resign'] as const)('ends by %s, and the next command begins a new life',
    async (command) => {
      const { env, chess, ask } = host()
      await ask('move')
      await expect(ask(command)).rejects.toThrow(CodedError)
      expect(await ask('move')).toBe(1)
      expect(chess.lives.map((life) => life.end)).toEqual(['at once', undefined])
      expect(env.lines.map((line) => line.level)).toEqual(['warn'])
    })

  it('has the reason of a failure in the log, not in the reply', async () => {
    const { env, ask } = host()
    await expect(ask('blunder')).rejects.toThrow('Something went wrong here.')
    expect(env.lines[0]?.details.error).toMatchObject({ message: 'a bug of the game' })
  })

  it('takes what it tells itself as the turn after the current one', async () => {
    const { chess, ask } = host()
    expect(await ask('retell')).toBe(1)
    expect(await ask('move')).toBe(3)
    expect(chess.alive('a')?.received).toEqual(['retell', 'move', 'move'])
  })

  /** An actor that notes its passivation; the test replaces parts of it. */
  const lone = (part: (context: ActorContext, noted: string[]) => Partial<Actor>) => {
    const noted: string[] = []
    const create = (context: ActorContext): Actor => ({
      occupied: false,
      activate: async () => {},
      receive: () => ({ reply: 'heard' }),
      follow: async () => () => {},
      passivate: async () => void noted.push('let go'),
      ...part(context, noted),
    })
    const activations = new ActivationTable(
      { env: virtualEnv(), kinds: [{ name: 'game', create }] },
    )
    return { noted, activations, asked: activations.ask(game('a'), 1, 'move') }
  }
  const failing = new HeddleError('unavailable')

  it('is passivated even if it fails while it activates', async () => {
    const { noted, asked } = lone(({ fail }) => ({ activate: async () => fail(failing) }))
    await expect(asked).rejects.toBe(failing)
    await new Promise((resolve) => setImmediate(resolve))
    expect(noted).toEqual(['let go'])
  })

  it('is passivated once, after the turn in which it failed, however often it fails', async () => {
    const { noted, asked, activations } = lone(({ fail }, noting) => ({ receive: () => {
      for (const _ of ['once', 'again']) fail(failing)
      noting.push('turn over')
      return { reply: 'heard' }
    } }))
    await expect(asked).rejects.toBe(failing)
    await new Promise((resolve) => setImmediate(resolve))
    expect(noted).toEqual(['turn over', 'let go'])
    expect(activations.stats().get('game')).toMatchObject({ alive: 0, begun: 1, failed: 1 })
  })

  it('that wants to sleep is passivated after the turn, and what comes then begins another life',
    async () => {
      const { noted, asked, activations } = lone(({ sleep }, noting) => ({ receive: () => {
        sleep()
        noting.push('turn over')
        return { reply: 'heard' }
      } }))
      await asked
      await new Promise((resolve) => setImmediate(resolve))
      expect(noted).toEqual(['turn over', 'let go'])
      expect(await activations.ask(game('a'), 1, 'move')).toBe('heard')
      expect(activations.stats().get('game')).toMatchObject({ begun: 2, failed: 0 })
    })

  it('that wants to sleep while it owes a reply is passivated when it has given it', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { noted, asked } = lone(({ sleep }) => ({ receive: () => {
      sleep(true)
      return { reply: promise }
    } }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(noted).toEqual([])
    resolve('heard')
    expect(await asked).toBe('heard')
    await new Promise((resolve) => setImmediate(resolve))
    expect(noted).toEqual(['let go'])
  })

  it.each(
    [['is occupied', { occupied: true }], ['owes a reply', {
      receive: () => ({ reply: new Promise(() => {}) }),
    }]] as const,
  )('that wants to sleep continues if it %s', async (_, part) => {
    let sleepNow = () => {}
    const { noted, activations } = lone(({ sleep }) => {
      sleepNow = sleep
      return part
    })
    await new Promise((resolve) => setImmediate(resolve))
    sleepNow()
    await new Promise((resolve) => setImmediate(resolve))
    expect([noted, activations.size]).toEqual([[], 1])
  })

  it('does not wait for it to rest if it fails meanwhile', async () => {
    let failNow = () => {}
    const { noted, asked, activations } = lone(({ fail }) => {
      failNow = () => fail(failing)
      return { occupied: true, rest: () => new Promise(() => {}) }
    })
    await asked
    void activations.close(new AbortController().signal).then(() => noted.push('closed'))
    failNow()
    await new Promise((resolve) => setImmediate(resolve))
    expect(noted).toEqual(['let go', 'closed'])
  })

  it('drops what a failed life tells itself', async () => {
    const { chess, ask } = host()
    await ask('move')
    const before = chess.alive('a')!
    await ask('resign').catch(() => {})
    before.context.notify('move')
    expect(await ask('move')).toBe(1)
  })

  it('answers every command, one life and one turn at a time, whatever fails', async () => {
    const commands = fc.array(fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      command: fc.constantFrom<Command>('move', 'move', 'ponder', 'publish', 'illegal', 'blunder',
        'resign', 'retell'),
      restMs: fc.constantFrom(0, 0, 0, 700_000),
    }), { maxLength: 25 })
    const starts = fc.array(fc.boolean(), { maxLength: 10 })
    await expectAlways(
      fc.asyncProperty(fc.scheduler(), commands, starts,
        async (scheduler, envelopes, failingStarts) => {
          const begin = () => {
            if (failingStarts.shift()) throw new Error('no board')
          }
          const { env, ask, activations } = host({
            pause: () => scheduler.schedule(Promise.resolve()),
            begin,
          })
          const asked = envelopes.map(async ({ id, command, restMs }) => {
            await scheduler.schedule(Promise.resolve())
            env.advance(restMs)
            return await ask(command, id)
          })
          const outcomes = Promise.allSettled(asked)
          await scheduler.waitFor(outcomes)
          for (const outcome of await outcomes) {
            if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(CodedError)
          }
          failingStarts.length = 0
          const last = ['a', 'b', 'c'].map((id) => ask('move', id))
          await scheduler.waitFor(Promise.all(last))
          expect(activations.size).toBe(3)
          expect(JSON.stringify(env.lines)).not.toMatch(/lives twice|two turns at once/)
        }),
      { share: 3 },
    )
  })
})
