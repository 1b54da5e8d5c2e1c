/** Effects in simulated worlds: each is done once or asked about, and why. */

import { describe, expect, it } from 'vitest'

import { repeats } from '../../support/repeats.ts'
import { effectRules, simulateEffects } from './effect-world.ts'

const worlds = repeats({ day: 300, night: 20_000 })
const longMs = 600_000

it(`does each effect once in ${worlds} worlds of deaths, stops, answers and forks`, async () => {
  let [cutOff, questions, successes] = [0, 0, 0]
  for (let seed = 1; seed <= worlds; seed++) {
    const outcome = await simulateEffects(seed)
    expect(outcome.findings, `seed ${seed}`).toEqual([])
    cutOff += outcome.cutOff
    questions += outcome.questions
    successes += outcome.successes
  }
  // Worlds in which nothing is cut off, or nothing succeeds, would prove nothing.
  expect(cutOff / worlds).toBeGreaterThan(0.3)
  expect(questions / worlds).toBeGreaterThan(0.1)
  expect(successes / worlds).toBeGreaterThan(0.5)
}, longMs)

describe('a world without one of the rules', () => {
  it.each(effectRules)('breaks a promise: %s', async (rule) => {
    let found = 0
    for (let seed = 1; found === 0 && seed <= 300; seed++) {
      if ((await simulateEffects(seed, rule)).findings.length > 0) found = seed
    }
    expect(found).toBeGreaterThan(0)
  }, longMs)
})
