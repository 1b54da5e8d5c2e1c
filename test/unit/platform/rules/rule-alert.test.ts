/** Alerts call their endpoints once for each crossing. */

import { expect, it } from 'vitest'

import { checkAlerts, crosses } from '../../../../src/platform/evaluate/rules/rule-alert.ts'
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

it('A bound is crossed as the alert says.', () => {
  const values = [1, 2, 3]
  const crossed = (comparison: 'above' | 'below' | 'at_least' | 'at_most' | null) =>
    values.filter((value) => crosses({ threshold: 2, comparison }, value))
  expect(crossed(null)).toEqual([3])
  expect(crossed('above')).toEqual([3])
  expect(crossed('below')).toEqual([1])
  expect(crossed('at_least')).toEqual([2, 3])
  expect(crossed('at_most')).toEqual([1, 2])
})

it('The endpoint of an alert rule gets its own members, and those of the hosted API.', async () => {
  const alert = { metric: 'error_rate', comparison: 'at_least', threshold: 0.5, window_minutes: 5,
    url: 'https://a', body: { channel: 'c', rule_id: 'forged' } }
  const { parts, here, bodies, logged } = ruleHouse({ alerts: [alert],
    alert_rule: { description: '', attribute: 'error_count' } }, {
    stats: () => ({ error_rate: 0.5 }),
  })
  await checkAlerts(parts, here, signal)
  expect(bodies).toMatchObject([{ channel: 'c', rule_id: 'r', rule_name: 'Errors',
    metric: 'error_rate', value: 0.5, comparison: 'at_least', project_name: 'the project',
    alert_rule_id: 'r', alert_rule_name: 'Errors', alert_rule_type: 'threshold',
    alert_rule_attribute: 'error_count', triggered_metric_value: 0.5, triggered_threshold: 0.5,
    timestamp: '2001-09-09T01:46:40.000Z' }])
  expect(logged).toMatchObject([{ message: 'Error rate is 0.5, at least 0.5, over the last 5 ' +
    'minutes. The webhook was called.' }])
})
