/** Simulated clusters that serve the operations of the verification for twenty minutes. */

import { expect, it } from 'vitest'

import type { Entry } from '../../../verify/history/history.ts'
import { isNight } from '../../support/repeats.ts'
import { simulateServing } from './serving-world.ts'

const operations = 400
const nightMs = 20 * 60_000
/** Each nightly run has worlds of its own. */
const first = isNight ? 1_000 + Number(process.env['HEDDLE_SEARCH_SEED'] ?? 0) % 1e9 : 1_000

/** Calls without what an engine draws from the clock: the ids of checkpoints. */
function callsIn(entries: readonly Entry[]): readonly string[] {
  return entries.filter((entry) => entry.type === 'call')
    .map(({ operation, client, startMs, endMs, status }) =>
      `${client} ${operation} ${startMs} ${endMs} ${status}`
    )
}

it('breaks no rule of the verification in worlds full of faults', async () => {
  const endMs = performance.now() + nightMs
  let succeeded = 0
  for (let seed = first; performance.now() < endMs; seed++) {
    const { history, violations } = await simulateServing({ seed, operations })
    expect(violations, `--target in-process --seed ${seed} --operations ${operations}`).toEqual([])
    succeeded += history.entries.filter((entry) =>
      entry.type === 'call' && entry.operation === 'run.wait' && entry.status === 200
    ).length
  }
  // Worlds in which no run succeeds would prove nothing.
  expect(succeeded).toBeGreaterThan(100)
}, 2 * nightMs)

it('has the same calls for the same seed', async () => {
  const live = async () => callsIn((await simulateServing({ seed: 5, operations })).history.entries)
  expect(await live()).toEqual(await live())
}, 600_000)
