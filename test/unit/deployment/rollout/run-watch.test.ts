/** When ended runs are too bad. */

import { describe, expect, it } from 'vitest'

import { RunWatch } from '../../../../src/deployment/rollout/run-watch.ts'

const tally = (ended: number, failed: number, deaths = 0) => ({ ended, failed, deaths })

/** A watch with nothing counted yet on two members. */
function begun({ ended, failed } = { ended: 1_000, failed: 0 }): RunWatch {
  const watch = new RunWatch()
  for (const member of ['a', 'b']) {
    watch.add(member, tally(100, 100, 7), 0)
    watch.addBefore(member, tally(ended / 2, failed / 2))
  }
  return watch
}

describe('a watch', () => {
  it('needs 20 ended runs of all members, half of them failed', () => {
    const watch = begun()
    watch.add('a', tally(110, 110, 7), 1_000)
    watch.add('b', tally(109, 109, 7), 1_000)
    expect(watch.verdict(1_000)).toBeUndefined()
    watch.add('b', tally(110, 110, 7), 2_000)
    expect(watch.verdict(2_000)).toBe('20 of 20 runs failed.')
    watch.add('b', tally(131, 110, 7), 3_000)
    expect(watch.verdict(3_000)).toBeUndefined()
  })

  it('compares with the revision before', () => {
    const verdictAfter = (failed: number) => {
      const watch = begun({ ended: 1_000, failed })
      watch.add('a', tally(140, 120, 7), 1_000)
      return watch.verdict(1_000)
    }
    expect(verdictAfter(100)).toBe('20 of 40 runs failed.')
    expect(verdictAfter(102)).toBeUndefined()
  })

  it('takes no share from fewer than 20 runs before', () => {
    const watch = begun({ ended: 18, failed: 18 })
    watch.add('a', tally(120, 120, 7), 1_000)
    expect(watch.verdict(1_000)).toBe('20 of 20 runs failed.')
  })

  it('counts deaths of the last minute', () => {
    const watch = begun()
    watch.add('a', tally(100, 100, 9), 1_000)
    expect(watch.verdict(1_000)).toBeUndefined()
    watch.add('b', tally(100, 100, 8), 60_999)
    expect(watch.verdict(60_999)).toBe('Its process died 3 times within a minute.')
    expect(watch.verdict(61_000)).toBeUndefined()
  })
})
