/** Those who go on together: when they do, and that nobody waits for ever. */

import { describe, expect, it } from 'vitest'

import { virtualEnv } from '../../../support/env.ts'
import { Gathering } from '../../../../src/store/cassandra/gathering.ts'

/** Works that end when they are told to. */
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
  it('goes on when so many are there, and when there cannot be so many any more', async () => {
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

  it('keeps nobody where they are few', async () => {
    const { gone, end } = works(4, 3)
    await end(0)
    expect(gone).toEqual([0])
    await end(1, 2)
    expect(gone).toEqual([0, 1, 2])
  })

  it('does not wait long for one who is late', async () => {
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

  it('does not wait for one who failed', async () => {
    const { gone, end, fail, all } = works(3, 3)
    await end(0, 1)
    expect(gone).toEqual([])
    await fail(2)
    expect(gone).toEqual([0, 1])
    await Promise.all(all)
  })
})
