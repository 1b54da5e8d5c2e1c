/** One steady follow of a run over many short ones, while its owners change. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { followSteadily } from '../../../../src/thread/client/follow-across-owners.ts'
import type { FeedListener } from '../../../../src/thread/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

const event = (id: string) => ({ id, name: 'updates', json: '1' })

/** A steady follow; the test plays the owners that are followed one after another. */
async function listening({ after = null, made = false, catchesUp = false, refused }: {
  after?: string | null
  made?: boolean
  catchesUp?: boolean
  refused?: HeddleError
} = {}) {
  const env = virtualEnv()
  const seen: string[] = []
  const follows: { after: string | null; listener: FeedListener; stopped: boolean }[] = []
  let refusal = refused
  let way = Promise.resolve()
  const stop = await followSteadily({
    env,
    followed: { runId: 'r' },
    after,
    made,
    catchesUp,
    listener: {
      events: (batch) => void seen.push(...batch.map(({ id }) => id)),
      ended: (how) => void seen.push(how),
    },
    follow: async (from, listener) => {
      if (refusal) throw refusal
      await way
      const follow = { after: from, listener, stopped: false }
      follows.push(follow)
      return () => {
        follow.stopped = true
      }
    },
  })
  const refuse = (code?: 'unavailable' | 'invalid' | 'not_found') => {
    refusal = code && new HeddleError(code)
  }
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    way = promise
    return resolve
  }
  return { env, seen, follows, stop, refuse, hold }
}

describe('a follow that is lost', () => {
  it('continues behind the last event, and passes on none twice', async () => {
    const { seen, follows } = await listening({ after: '1.0' })
    follows[0]!.listener.events([event('1.1'), event('2.0')])
    follows[0]!.listener.ended('lost')
    await settled()
    expect(follows[1]!.after).toBe('2.0')
    follows[0]!.listener.events([event('2.1')])
    follows[1]!.listener.events([event('2.0'), event('3.0')])
    follows[1]!.listener.ended('over')
    expect(seen).toEqual(['1.1', '2.0', '3.0', 'over'])
  })

  it('is still the same loss if the past cannot be read, however slow the reads are', async () => {
    const { env, seen, follows } = await listening({ made: true })
    for (let tries = 0; tries < 60 && !seen.includes('lost'); tries++) {
      env.advance(1_500)
      follows.at(-1)!.listener.ended('unread')
      await settled()
      env.advance(250)
      await settled()
    }
    expect(seen).toEqual(['lost'])
    expect(follows.length).toBeLessThan(60)
  })

  it('is tried again until an owner is there', async () => {
    const { env, seen, follows, refuse } = await listening()
    refuse('unavailable')
    follows[0]!.listener.ended('lost')
    for (let i = 0; i < 40; i++) {
      await settled()
      env.advance(250)
    }
    refuse()
    env.advance(250)
    await settled()
    expect(follows).toHaveLength(2)
    follows[1]!.listener.events([event('1.0')])
    expect([seen, env.timers()]).toEqual([['1.0'], 0])
  })

  it('is lost for good if no owner comes or it is refused, and over if the run is gone',
    async () => {
      for (const [code, seconds, end] of [['unavailable', 61, 'lost'], ['invalid', 1, 'lost'], [
        'not_found',
        1,
        'over',
      ]] as const) {
        const { env, seen, follows, refuse } = await listening()
        refuse(code)
        follows[0]!.listener.ended('lost')
        for (let i = 0; i < seconds * 4; i++) {
          expect(seen).toEqual(i < seconds * 4 - 6 ? [] : seen)
          await settled()
          env.advance(250)
          if (seen.length > 0) break
        }
        await settled()
        expect([seen, env.timers()]).toEqual([[end], 0])
      }
    })

  it('is not retried in a tight loop if every owner loses it at once', async () => {
    const { env, seen, follows } = await listening()
    for (let i = 0; i < 1_000; i++) {
      follows.at(-1)!.listener.ended('lost')
      await settled()
      env.advance(50)
    }
    await settled()
    expect(seen).toEqual([])
    expect(follows.length).toBeLessThan(250)
    for (let i = 0; seen.length === 0; i++) {
      expect(i).toBeLessThan(250)
      follows.at(-1)!.listener.ended('lost')
      await settled()
      env.advance(50)
    }
    expect(seen).toEqual(['lost'])
  })

  it('is a new loss if it had lasted, even without events', async () => {
    const { env, seen, follows } = await listening()
    for (let losses = 1; losses <= 3; losses++) {
      follows.at(-1)!.listener.ended('lost')
      await settled()
      expect([seen, follows.length]).toEqual([[], losses + 1])
      env.advance(90_000)
    }
  })

  it('is retried once, even if its loss is reported twice', async () => {
    const env = virtualEnv()
    let follows = 0
    await followSteadily({
      env,
      followed: { runId: 'r' },
      after: null,
      made: true,
      listener: { events: () => {}, ended: () => {} },
      follow: async (_, listener) => {
        if (++follows > 1) return () => {}
        listener.ended('lost')
        throw new HeddleError('unavailable')
      },
    })
    for (let i = 0; i < 8; i++) {
      await settled()
      env.advance(250)
    }
    expect([follows, env.timers()]).toEqual([2, 0])
  })

  it('is retried even if it was the first, for a caller that made the run', async () => {
    const { env, seen, follows, refuse } = await listening({ made: true,
      refused: new HeddleError('unavailable') })
    await settled()
    expect([seen, follows.length]).toEqual([[], 0])
    refuse()
    env.advance(250)
    await settled()
    follows[0]!.listener.events([event('1.0')])
    expect([seen, env.timers()]).toEqual([['1.0'], 0])
  })

  it('is an error at once if it was the first and the run may not exist', async () => {
    const refused = new HeddleError('unavailable')
    await expect(listening({ refused })).rejects.toBe(refused)
    const gone = new HeddleError('not_found')
    await expect(listening({ made: true, refused: gone })).rejects.toBe(gone)
  })

  it('is passed on if the reader was too slow', async () => {
    const { seen, follows } = await listening()
    follows[0]!.listener.ended('lagged')
    await settled()
    expect([seen, follows.length]).toEqual([['lagged'], 1])
  })

  it('begins again behind the last event for a reader that catches up', async () => {
    const { seen, follows } = await listening({ catchesUp: true })
    follows[0]!.listener.events([event('1.1')])
    follows[0]!.listener.ended('lagged')
    await settled()
    expect([seen, follows[1]!.after]).toEqual([['1.1'], '1.1'])
  })

  it('is not retried once the follower has stopped', async () => {
    const { env, seen, follows, stop, refuse } = await listening()
    refuse('unavailable')
    follows[0]!.listener.ended('lost')
    await settled()
    env.advance(250)
    await settled()
    stop()
    await settled()
    expect([seen, env.timers(), follows[0]!.stopped]).toEqual([[], 0, true])
  })

  it('ends if its caller stops while the next one begins', async () => {
    const { follows, stop, hold } = await listening()
    const go = hold()
    follows[0]!.listener.ended('lost')
    await settled()
    stop()
    go()
    await settled()
    expect(follows.map(({ stopped }) => stopped)).toEqual([true, true])
  })
})
