/** When a second host is asked: after 200 ms, or sooner for what many callers wait for. */

import { expect, it } from 'vitest'

import { Hedge } from '../../../../../src/store/cassandra/driver/hedge.ts'

const delays = (hedge: Hedge, cql: string | object[]) => {
  const plan = hedge.newPlan('k', cql)
  return [plan.nextExecution(), plan.nextExecution()]
}

it('A second host is asked once, after 200 ms.', () => {
  expect(delays(new Hedge(), 'SELECT')).toEqual([200, -1])
  expect(delays(new Hedge(), [{ query: 'SELECT' }])).toEqual([200, -1])
})

it('What many wait for is sent to a second host after twice its usual time.', () => {
  const hedge = new Hedge()
  hedge.answered('prompt', 1)
  expect(delays(hedge, 'prompt')).toEqual([4, -1])
  // One in four takes long: that is not the usual time.
  for (let received = 0; received <
    400; received++) hedge.answered('prompt', received % 4 === 0 ? 500 : 10)
  const [delayMs] = delays(hedge, 'prompt')
  expect(delayMs).toBeGreaterThanOrEqual(18)
  expect(delayMs).toBeLessThanOrEqual(26)
  expect(delays(hedge, 'SELECT')).toEqual([200, -1])
})

it('The learned time has bounds.', () => {
  const hedge = new Hedge()
  for (let received = 0; received < 400; received++) hedge.answered('prompt', 0.1)
  expect(delays(hedge, 'prompt')).toEqual([2, -1])
  for (let received = 0; received < 400; received++) hedge.answered('prompt', 3_000)
  expect(delays(hedge, 'prompt')).toEqual([100, -1])
})
