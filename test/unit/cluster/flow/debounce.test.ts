/** Work that is postponed until nothing more comes, up to a limit. */

import { describe, expect, it } from 'vitest'

import { debounce } from '../../../../cluster/flow/debounce.ts'
import { virtualEnv } from '../../../support/env.ts'

function waiting() {
  const env = virtualEnv()
  const done: number[] = []
  const later = debounce({ env, calmMs: 100, latestMs: 1_000 })
  return { env, done, give: (number: number) => later(() => done.push(number)) }
}

describe('postponed work', () => {
  it('is done in order once nothing more has come for a while', () => {
    const { env, done, give } = waiting()
    give(1)
    env.advance(99)
    give(2)
    env.advance(99)
    expect(done).toEqual([])
    env.advance(1)
    expect(done).toEqual([1, 2])
    give(3)
    env.advance(100)
    expect(done).toEqual([1, 2, 3])
    expect(env.timers()).toBe(0)
  })

  it('waits no longer than its limit, however much comes', () => {
    const { env, done, give } = waiting()
    for (let number = 0; number < 20; number++) {
      give(number)
      env.advance(60)
    }
    expect(done.slice(0, 3)).toEqual([0, 1, 2])
    expect(done.length).toBeGreaterThanOrEqual(16)
    env.advance(100)
    expect(done).toEqual(Array.from({ length: 20 }, (_, number) => number))
  })
})
