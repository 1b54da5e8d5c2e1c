/** End of life of spans that move from a guessed project to the project of their post. */

import { afterEach, describe, expect, it } from 'vitest'

import { noFields } from '../../../src/platform/index.ts'
import type { SpanPlace, SpansOfRequest } from '../../../src/platform/index.ts'
import { aPost, requestOf, uuidOf } from '../../contract/span-histories.ts'
import { dataDirectory, memoryKeyspace } from '../../simulation/platform/house-store.ts'
import type { HouseStore } from '../../simulation/platform/house-store.ts'
import { virtualEnv } from '../../support/env.ts'

const daySeconds = 86_400
const lives = { short: 14 * daySeconds, long: 400 * daySeconds } as const
const stores = { embedded: dataDirectory, Cassandra: memoryKeyspace } as const

let store: HouseStore | undefined
afterEach(() => store?.remove())

/** Lets so many days and some rounds of the removal pass. */
async function passDays(env: ReturnType<typeof virtualEnv>, days: number): Promise<void> {
  for (let day = 0; day < days; day++) env.skip(daySeconds * 1_000)
  for (let second = 0; second < 130; second++) {
    env.advance(1_000)
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.each(['embedded', 'Cassandra'] as const)('a moved span, %s store', (kind) => {
  it.each(
    [['before', 'long', 'short'], ['before', 'short', 'long'], ['after', 'long', 'short'], ['after',
      'short', 'long']] as const,
  )(
    'whose patch came %s its post, from a project of %s life, lives for the %s life of its project',
    async (order, guessedLife, ownLife) => {
      const env = virtualEnv()
      store = stores[kind]()
      const spans = store.open(env, { rightMs: env.nowMs, without: undefined })
      const startUs = env.nowMs() * 1_000
      const place: SpanPlace = { tenant: 'acme', project: uuidOf(1, 0), id: uuidOf(4, 1),
        trace: uuidOf(4, 1), startUs, traceStartUs: startUs }
      const guess = { ...place, project: uuidOf(1, 1) }
      const { trace, traceStartUs } = guess
      const patch: SpansOfRequest = {
        ...requestOf('acme', [{ ...aPost(guess, { arrivedUs: startUs, block: 7n }), kind: 'patch',
          isGuess: true, fields: { ...noFields, endUs: startUs + 5 } }]),
        timeToLiveS: new Map([[guess.project, lives[guessedLife]]]),
        blocks: [{ id: 7n, trace, traceStartUs, data: Buffer.from('block') }],
        files: [{ project: guess.project, owner: guess.id, ownerTrace: trace, name: 'f', type: 't',
          data: Buffer.from('file') }],
      }
      const post: SpansOfRequest = {
        ...requestOf('acme', [
          aPost(place, { arrivedUs: startUs, fields: { ...noFields, name: 'n' } }),
        ]),
        timeToLiveS: new Map([[place.project, lives[ownLife]]]),
      }
      const earlier = aPost({ ...place, id: uuidOf(4, 2), trace: uuidOf(4, 2) })
      await spans.write({ ...post, spans: [earlier] })
      await passDays(env, 0)
      for (const request of order === 'before' ? [patch, post] : [post, patch]) {
        await spans.write(request)
      }
      const parts = async () => {
        const [head] = await spans.heads([place])
        return { name: head?.name ?? null, endUs: head?.endUs ?? null,
          blocks: (await spans.blocks(place, [7n])).size, files: (await spans.files(place)).length,
          places: (await spans.locate('acme', [place.id])).length }
      }
      const whole = { name: 'n', endUs: startUs + 5, blocks: 1, files: 1, places: 1 }
      expect(await parts()).toEqual(whole)
      await passDays(env, 15)
      expect(await parts()).toEqual(ownLife === 'long'
        ? whole
        : { name: null, endUs: null, blocks: 0, files: 0, places: 0 })
      await spans.close()
    },
  )
})
