/** What a rule may say. */

import { expect, it } from 'vitest'

import { requireSound } from '../../../../src/platform/rules/rule.ts'

it.each(['Host', 'host', 'Transfer-Encoding'])('No call has a header %s of its own', (name) => {
  const call = { url: 'https://a.example', headers: { [name]: 'internal.example' } }
  const alert = { ...call, metric: 'cost', threshold: 1, window_minutes: 5 } as const
  const rule = { display_name: 'x', session_id: '7f3b6d53-8a8c-4a9e-9a57-0d2b1a5c9c11' }
  expect(() => requireSound({ ...rule, webhooks: [call] }, 'p')).toThrow(/headers/)
  expect(() => requireSound({ ...rule, alerts: [alert] }, 'p')).toThrow(/headers/)
  requireSound({ ...rule, webhooks: [{ ...call, headers: { 'X-Host': 'a' } }] }, 'p')
})
