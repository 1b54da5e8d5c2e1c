/** One simulated roll-out history: callers, faults, and then peace. */

import { HeddleError } from '../../../../src/errors.ts'
import { revisionNames, RolloutWorld } from '../../../support/rollout-world.ts'

const stepMs = 20
const faultyMs = 150_000
const calmMs = 120_000

/** What callers may be answered while others roll out, and members and the store fail. */
const allowed = ['stale', 'not_ready', 'graph_failed', 'invalid', 'unavailable']

/** Lives through a history, and gives back what broke the rules and how roll-outs ended. */
export async function simulateRollouts(
  seed: number,
): Promise<{ readonly violations: readonly string[]; readonly results: readonly string[] }> {
  const world = new RolloutWorld(seed)
  const { chance, violations } = world
  let callers = 0
  const call = async () => {
    const revision = chance.pick(revisionNames)
    const options = { by: 'me', prepareMs: 45_000, watchMs: chance.pick([0, 10_000, 20_000]) }
    const caller = world.caller()
    callers++
    try {
      const way = chance.number()
      if (way < 0.15) await caller.check('shop', revision, options)
      else if (way < 0.6) await caller.activate('shop', revision, options)
      else if (way < 0.75) await caller.activate('shop', revision, { ...options, percent: 20 })
      else if (way < 0.9) await caller.rollback('shop', options)
      else await caller.loadSecrets('shop', { ...options, change: [] })
    } catch (error) {
      const { code, message } = HeddleError.from(error)
      if (!allowed.includes(code)) violations.push(`a caller got ${code}: ${message}`)
    } finally {
      callers--
    }
  }
  for (let atMs = 0; atMs < faultyMs; atMs += stepMs) {
    if (chance.flip(stepMs / 6_000)) void call()
    if (chance.flip(stepMs / 7_000)) world.crash()
    if (chance.flip(stepMs / 5_000)) world.join()
    if (chance.flip(stepMs / 10_000)) world.moveOwner()
    await world.step(stepMs)
  }
  world.hasFaults = false
  for (let atMs = 0; atMs < calmMs; atMs += stepMs) await world.step(stepMs)
  if (world.deployment.rollout !== null) violations.push('a roll-out never ended')
  if (callers > 0) violations.push(`${callers} callers were never answered`)
  violations.push(...world.unnoted())
  const late = world.members.filter(({ isUp, known }) =>
    isUp && known.active !== world.deployment.active
  )
  for (const { id } of late) violations.push(`${id} never learned of the pointer`)
  return { violations, results: world.results }
}
