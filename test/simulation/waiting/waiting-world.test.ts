/** The wait of a thread in random histories, with and without each of its rules. */

import { describe, expect, it } from 'vitest'

import { simulateWaiting, waitingRules } from './waiting-world.ts'

const histories = 60

it(`shows the wait that the log has in ${histories} random histories`, async () => {
  let [resumed, rollbacks] = [0, 0]
  for (let seed = 1; seed <= histories; seed++) {
    const outcome = await simulateWaiting(seed)
    expect(outcome.findings, `seed ${seed}:\n${outcome.trace.join('\n')}`).toEqual([])
    if (outcome.resumed) resumed++
    rollbacks += outcome.rollbacks
  }
  // Histories that never wait, or in which nothing is rolled back, would prove little.
  expect(resumed / histories).toBeGreaterThan(0.1)
  expect(rollbacks / histories).toBeGreaterThan(0.15)
}, 600_000)

describe('histories without one of the rules', () => {
  it.each(waitingRules)('break a promise: %s', async (rule) => {
    let found = 0
    for (let seed = 1; found === 0 && seed <= 300; seed++) {
      if ((await simulateWaiting(seed, rule)).findings.length > 0) found = seed
    }
    expect(found).toBeGreaterThan(0)
  }, 600_000)
})
