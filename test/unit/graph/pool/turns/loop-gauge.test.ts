/** How long jobs hold the loop: what they compute counts, and what they wait for does not. */

import { describe, expect, it } from 'vitest'

import { LoopGauge } from '../../../../../src/graph/pool/turns/loop-gauge.ts'

/** A gauge on a loop that the test turns. */
function gaugeOnLoop() {
  let [nowMs, idleMs] = [0, 0]
  let ended = () => {}
  const gauge = new LoopGauge({ nowMs: () => nowMs, idleMs: () => idleMs, atTurnEnd: (callback) => {
    ended = callback
  } })
  return {
    gauge,
    compute: (ms: number) => {
      nowMs += ms
    },
    /** Ends the turn, and waits for the next event. */
    wait: (ms: number) => {
      ended()
      nowMs += ms
      idleMs += ms
    },
  }
}

describe('the gauge of a loop', () => {
  it('counts what each job computes', () => {
    const { gauge, compute, wait } = gaugeOnLoop()
    gauge.watch(1)
    gauge.watch(2)
    gauge.enter(1)
    compute(150)
    gauge.enter(2)
    compute(10)
    expect([gauge.take(1), gauge.take(2), gauge.take(2)]).toEqual([150, 10, 0])
    wait(5)
    expect(gauge.takeLongest()).toBe(160)
    expect(gauge.takeLongest()).toBe(0)
  })

  it('counts nothing of a wait, and all that came after it, once code is entered again', () => {
    const { gauge, compute, wait } = gaugeOnLoop()
    gauge.watch(1)
    gauge.enter(1)
    compute(1)
    wait(1_000)
    compute(40)
    gauge.enter(1)
    compute(2)
    expect(gauge.take(1)).toBe(43)
    expect(gauge.takeLongest()).toBe(42)
  })

  it('counts nothing for jobs that are over', () => {
    const { gauge, compute } = gaugeOnLoop()
    gauge.watch(1)
    gauge.forget(1)
    gauge.enter(1)
    compute(10)
    expect(gauge.take(1)).toBe(0)
  })
})
