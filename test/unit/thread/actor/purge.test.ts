/** The removal of a deleted thread while the store cannot be reached: when it is retried. */

import { describe, expect, it } from 'vitest'

import type { ActorContext } from '../../../../cluster/index.ts'
import type { LogPort } from '../../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { Purge } from '../../../../src/thread/actor/purge.ts'
import { virtualEnv } from '../../../support/env.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const branch = { id: 'b', ancestors: [] }

/** A purge that has begun; `answer` is how the store answers, and `tries` are in seconds. */
async function begun(answer: () => Promise<void>) {
  const env = virtualEnv()
  const tries: number[] = []
  const log = { purge: () => {
    tries.push(env.monotonicMs() / 1_000)
    return tries.length > 20 ? new Promise<never>(() => {}) : answer()
  } } as Partial<LogPort> as LogPort
  const key = { kind: 'thread', tenant: 't', id: 'x' }
  const purge = new Purge({ log, env, runs: { list: async () => [] } },
    { key, epoch: 1 } as ActorContext)
  const seen = purge.after(Promise.resolve(), branch)
  await settled()
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      env.advance(1_000)
      await settled()
    }
  }
  return { purge, tries, seen, pass }
}

it('A deleted thread stays in memory until it is purged, even if nobody asks for it.', async () => {
  const house = new ThreadHouse()
  await house.startRun('x')
  const purge = house.log.purge.bind(house.log)
  house.log.purge = away
  await house.client.delete('t', 'x')
  for (let minute = 0; minute < 30; minute++) {
    house.env.advance(60_000)
    await settled()
  }
  house.log.purge = purge
  house.env.advance(60_000)
  await settled()
  expect(house.log.purged).toMatchObject([{ id: 'x' }])
})

const away = () => Promise.reject(new HeddleError('unavailable'))

it(
  'The next owner of a deleted thread writes the rows of all its runs, for the purge to find them.',
  async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    const known = pair.log.updates.length
    await pair.client.startRun('t', 'x', aRun('q'))
    pair.log.purge = () => new Promise(() => {})
    void pair.client.delete('t', 'x').catch(() => {})
    await settled()
    pair.log.updates.length = known
    pair.kill()
    await settled()
    const written = pair.log.updates.slice(known)
    expect(written.flatMap((each) => (each.table === 'run' ? [each.row.runId] : []))).toEqual(['r',
      'q'])
    expect(written.at(-1)).toMatchObject({ table: 'thread', row: { deleted: true } })
  },
)

describe('a purge', () => {
  it('is retried until it succeeds, with growing pauses of at most a minute', async () => {
    let answer: () => Promise<void> = away
    const { purge, tries, seen, pass } = await begun(() => answer())
    await seen
    await pass(200)
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
    expect(purge.underWay).toBe(true)
    answer = async () => {}
    await pass(60)
    expect([tries.length, purge.underWay]).toEqual([10, false])
    await expect(purge.lastTry).resolves.toBeUndefined()
  })

  it('is not retried once it is stopped, which waits for the try under way', async () => {
    const { purge, tries, pass } = await begun(away)
    await purge.stop()
    await pass(100)
    expect(tries).toEqual([0])
    const { promise, resolve } = Promise.withResolvers<void>()
    const second = await begun(() => promise)
    let stopped = false
    const stopping = second.purge.stop().then(() => {
      stopped = true
    })
    await settled()
    expect(stopped).toBe(false)
    resolve()
    await stopping
  })
})
