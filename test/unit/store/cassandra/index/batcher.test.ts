/** Work that continues in groups: when a group is complete, and that none waits for ever. */

import { describe, expect, it } from 'vitest'

import { Gathering } from '../../../../../src/store/cassandra/index/batcher.ts'
import { virtualEnv } from '../../../../support/env.ts'

/** Works that the test ends, or fails. */
function works(size: number, count: number) {
  const env = virtualEnv()
  const gathering = new Gathering({ env, size, patienceMs: 300 })
  const ends = Array.from({ length: count }, () => Promise.withResolvers<number>())
  const gone: number[] = []
  const all = ends.map(({ promise }) => gathering.after(() => promise)
    .then((place) => void gone.push(place), () => {}))
  const end = async (...places: number[]) => {
    for (const place of places) ends[place]!.resolve(place)
    await new Promise(setImmediate)
  }
  const fail = async (place: number) => {
    ends[place]!.reject(new Error('no'))
    await new Promise(setImmediate)
  }
  const pass = async (ms: number) => {
    env.advance(ms)
    await new Promise(setImmediate)
  }
  return { gone, end, fail, all, pass }
}

describe('a gathering', () => {
  it('continues when the group is complete, or cannot become complete any more', async () => {
    const { gone, end } = works(2, 5)
    await end(0)
    expect(gone).toEqual([])
    await end(3)
    expect(gone).toEqual([0, 3])
    await end(1)
    expect(gone).toEqual([0, 3])
    await end(2)
    expect(gone).toEqual([0, 3, 1, 2])
    await end(4)
    expect(gone).toEqual([0, 3, 1, 2, 4])
  })

  it('continues at once if fewer are under way than a group has', async () => {
    const { gone, end } = works(4, 3)
    await end(0)
    expect(gone).toEqual([0])
    await end(1, 2)
    expect(gone).toEqual([0, 1, 2])
  })

  it('does not wait long for a late one', async () => {
    const { gone, end, pass } = works(3, 3)
    await end(0)
    await pass(200)
    await end(1)
    await pass(99)
    expect(gone).toEqual([])
    await pass(1)
    expect(gone).toEqual([0, 1])
    await end(2)
    expect(gone).toEqual([0, 1, 2])
  })

  it('does not wait for one that failed', async () => {
    const { gone, end, fail, all } = works(3, 3)
    await end(0, 1)
    expect(gone).toEqual([])
    await fail(2)
    expect(gone).toEqual([0, 1])
    await Promise.all(all)
  })
})
