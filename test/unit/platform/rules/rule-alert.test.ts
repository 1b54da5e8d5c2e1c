/** Alerts call their endpoints once for each crossing. */

import { expect, it } from 'vitest'

import { checkAlerts } from '../../../../src/platform/evaluate/rules/rule-alert.ts'
import { ruleHouse } from './rule-house.ts'

const signal = new AbortController().signal

it('An alert fires once for a crossing, and again for the next one.', async () => {
  let count = 1
  const alert = { metric: 'run_count', threshold: 1, window_minutes: 60, url: 'https://a' }
  const { parts, here, called, logged } = ruleHouse({ alerts: [alert] }, {
    stats: () => ({ run_count: count }),
  })
  const calls: number[] = []
  for (count of [1, 2, 3, 1, 2]) {
    await checkAlerts(parts, here, signal)
    calls.push(called.length)
  }
  expect(calls).toEqual([0, 1, 1, 1, 2])
  expect(logged).toMatchObject(
    [1, 2].map(() => ({ outcome: 'alert',
      message: 'Run count is 2, above 1, over the last 60 minutes. The webhook was called.' })
    ),
  )
})
