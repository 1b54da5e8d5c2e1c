/** Work that continues in groups: when a group is complete, and that none waits for ever. */

import { describe, expect, it } from 'vitest'

import { Batcher } from '../../../../../src/store/cassandra/index/batcher.ts'
import { virtualEnv } from '../../../../support/env.ts'

/** Works that the test ends, or fails. */
function works(size: number, count: number) {
  const env = virtualEnv()
  const batcher = new Batcher({ env, size, patienceMs: 300 })
  const ends = Array.from({ length: count }, () => Promise.withResolvers<number>())
  const gone: number[] = []
  const all = ends.map(({ promise }) =>
    batcher.after(() => promise)
      .then((index) => void gone.push(index), () => {})
  )
  const end = async (...places: number[]) => {
    for (const index of places) ends[index]!.resolve(index)
    await new Promise(setImmediate)
  }
  const fail = async (index: number) => {
    ends[index]!.reject(new Error('no'))
    await new Promise(setImmediate)
  }
  const confirm = async (ms: number) => {
    env.advance(ms)
    await new Promise(setImmediate)
  }
  return { gone, end, fail, all, confirm }
}

describe('a batch of callers', () => {
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
    const { gone, end, confirm } = works(3, 3)
    await end(0)
    await confirm(200)
    await end(1)
    await confirm(99)
    expect(gone).toEqual([])
    await confirm(1)
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
