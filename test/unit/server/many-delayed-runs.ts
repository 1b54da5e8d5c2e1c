/** Many delayed runs: no memory while they wait; they start when due, after a restart too. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, vi } from 'vitest'

import { embeddedPlace } from '../../contract/embedded-place.ts'
import { DelayedHouse } from './delayed-house.ts'

const inputCharacters = 10_000
const hourMs = 3_600_000

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

/** The store answers in its own time: the clock stands still meanwhile. */
async function soon(house: DelayedHouse, check: () => void): Promise<void> {
  await vi.waitFor(async () => {
    await house.pass(0)
    check()
  }, { timeout: 60_000 })
}

/** Half of them are due after one hour, the others after two. */
export async function expectManyDelayed(count: number): Promise<void> {
  const place = embeddedPlace()
  let house = await DelayedHouse.open(place.directory)
  await house.startDelayed('warm', 0, '')
  const before = heapBytes()
  for (let from = 0; from < count; from += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, count - from) }, (_, i) =>
        house.startDelayed(`${from + i}`, hourMs * (1 + i % 2), 'x'.repeat(inputCharacters))),
    )
  }
  expect(await house.store.use('t')).toMatchObject({ threads: count + 1, delayedRuns: count })
  expect(house.activations.size).toBe(count + 1)
  await house.pass(3_000)
  await soon(house, () => expect(house.activations.size).toBe(1))
  // Awake, each would have its input, and as much again of its own.
  expect(heapBytes() - before).toBeLessThan(0.1 * count * inputCharacters + 8_000_000)
  await house.pass(hourMs)
  await soon(house, () => expect(house.host.executions).toHaveLength(1 + count / 2))
  await house.close()

  house = await DelayedHouse.open(place.directory, hourMs + 3_000)
  // The first run has reached its time limit.
  expect(await house.store.unfinished()).toHaveLength(count / 2)
  await house.pass(hourMs - 10_000)
  expect(house.host.executions).toHaveLength(0)
  await house.pass(10_000)
  await soon(house, () => expect(house.host.executions).toHaveLength(count / 2))
  const inputs = house.host.executions.map(({ request }) => JSON.stringify(request).length)
  expect(Math.min(...inputs)).toBeGreaterThan(inputCharacters)
  await house.close()
  await place.remove()
}
