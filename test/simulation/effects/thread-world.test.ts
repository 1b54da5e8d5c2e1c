/** Effects of one thread in random sequences of events: each is done once, or by a decision. */

import { expect, it } from 'vitest'

import { useTasks } from '../../support/engine-thread.ts'
import { simulateThread } from './thread-world.ts'

useTasks()

// The first twenty find each of the faults that the sequences are for.
const sequences = 30

it(`does each effect once in ${sequences} random sequences on one thread`, async () => {
  let ended = 0
  for (let seed = 1; seed <= sequences; seed++) {
    const { findings, trace, hasEnded } = await simulateThread(seed)
    expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
    if (hasEnded) ended++
  }
  // Sequences without an end would prove little.
  expect(ended / sequences).toBeGreaterThan(0.5)
}, 600_000)
