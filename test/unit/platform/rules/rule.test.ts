/** What a rule may say, and what is shown of it. */

import { expect, it } from 'vitest'

import { changedRule, requireSound, ruleJson,
  ruleOf } from '../../../../src/platform/evaluate/rules/rule.ts'

it.each(['Host', 'host', 'Transfer-Encoding'])('No call has a header %s of its own', (name) => {
  const call = { url: 'https://a.example', headers: { [name]: 'internal.example' } }
  const alert = { ...call, metric: 'cost', threshold: 1, window_minutes: 5 } as const
  const rule = { display_name: 'x', session_id: '7f3b6d53-8a8c-4a9e-9a57-0d2b1a5c9c11' }
  expect(() => requireSound({ ...rule, webhooks: [call] }, 'p')).toThrow(/headers/)
  expect(() => requireSound({ ...rule, alerts: [alert] }, 'p')).toThrow(/headers/)
  requireSound({ ...rule, webhooks: [{ ...call, headers: { 'X-Host': 'a' } }] }, 'p')
})

it('Logins in addresses that were kept before are not shown', () => {
  const url = 'https://ann:pass@a.example/x'
  const headers = { 'x-key': 'k' }
  const lc = { lc: 1, type: 'constructor', id: ['ChatOpenAI'] }
  const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ inner }), { url })
  const structured = { prompt: [['system', 'Call https://ann@a.example'], ['human', '{input}']],
    model: { ...lc, kwargs: { base_url: url, model: 'm' } } }
  const manifest = { ...lc, kwargs: { last: { ...lc, kwargs: { baseURL: url } } } }
  const body = { display_name: 'x', webhooks: [{ url, headers }],
    alerts: [{ url, metric: 'cost', threshold: 1, window_minutes: 5 }],
    evaluators: [{ structured }, { structured: { prompt: manifest } }, { graph_id: 'agent' }, {
      structured: { prompt: [], model: deep },
    }] } as const
  const record = { id: 'i', name: 'x\ni', bodyJson: JSON.stringify(body), createdAtMs: 0,
    modifiedAtMs: 0 }
  const rule = ruleOf(record as never)
  const shown = ruleJson(rule, { tenant: 't' })
  expect(JSON.stringify(shown)).not.toContain('pass')
  expect(shown).toMatchObject({ webhooks: [{ url: 'https://a.example/x' }],
    alerts: [{ url: 'https://a.example/x' }], evaluators: [{
      structured: { prompt: structured.prompt,
        model: { kwargs: { base_url: 'https://a.example/x', model: 'm' } } },
    }, {
      structured: { prompt: { kwargs: { last: { kwargs: { baseURL: 'https://a.example/x' } } } } },
    }, { graph_id: 'agent' }, { structured: { model: null } }] })
  expect(changedRule(rule, { display_name: 'y' }).webhooks).toEqual([{ url, headers }])
  // Headers that are sent back hidden stay, with the address as it was shown.
  const { webhooks } = shown
  expect(changedRule(rule, { webhooks }).webhooks)
    .toEqual([{ url: 'https://a.example/x', headers }])
})
