/** What is known of a graph's nodes: what they do again and again, and not what happens once. */

import { describe, expect, it } from 'vitest'

import { HoldTimes, Longest } from '../../../../../src/graph/pool/turns/hold-times.ts'
import { LoopLoad } from '../../../../../src/graph/pool/turns/loop-load.ts'

function heldFor(...times: readonly number[]): Longest {
  const held = new Longest()
  for (const ms of times) held.add(ms)
  return held
}

describe('the times of a graph', () => {
  it('are found out with one run at a time', () => {
    const times = new HoldTimes()
    const load = new LoopLoad(() => 0)
    load.add(1, { ms: times.of('g'), lane: 'a' })
    expect(load.hasRoomFor({ ms: times.of('g'), lane: 'a' })).toBe(false)
    times.ended('g', heldFor(1))
    expect(times.of('g')).toBe(1)
    times.ended('h', heldFor(0))
    expect(times.of('h')).toBe(0.5)
  })

  it('rise halfway to what a run did twice, or two runs one after the other', () => {
    const times = new HoldTimes()
    times.ended('g', heldFor(2))
    times.held('g', heldFor(200, 150))
    expect(times.of('g')).toBe(76)
    times.ended('g', heldFor(176))
    expect(times.of('g')).toBe(76)
    times.ended('g', heldFor(276))
    expect(times.of('g')).toBe(126)
  })

  it('do not rise for one long run among short ones, and fall slowly', () => {
    const times = new HoldTimes()
    times.ended('g', heldFor(100))
    times.ended('g', heldFor(0))
    expect(times.of('g')).toBe(75)
    times.ended('g', heldFor(500))
    expect(times.of('g')).toBe(75)
    times.held('other', heldFor(7, 7))
    expect(times.of('other')).toBe(25)
  })

  it('are bounded, whatever is sent', () => {
    const times = new HoldTimes()
    times.ended('g', heldFor(1e300))
    expect(times.of('g')).toBe(60_000)
  })
})
