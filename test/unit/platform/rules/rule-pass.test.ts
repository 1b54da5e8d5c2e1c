/** Which spans a rule acts on, and what actions get of them. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { detailOf, readAll } from '../../../../src/platform/evaluate/rules/rule-pass.ts'
import { ruleHouse } from './rule-house.ts'

it.each([
  ['a little long', () => Promise.resolve(Buffer.from(`{"inputs":"${'x'.repeat(1_100_000)}"}`))],
  ['longer than any answer', () => Promise.reject(new HeddleError('too_large'))],
])('A span that is %s has no payload, and holds up nothing', async (_, whole) => {
  const run = ({ select = [] }: { readonly select?: readonly string[] }): Promise<Uint8Array> =>
    select.includes('inputs') ? whole() : Promise.resolve(Buffer.from('{"id":"1"}'))
  const found = detailOf({ query: () => ({ run }) }, 'acme', '1', [], AbortSignal.timeout(9_000))
  expect(await found).toEqual({ id: '1', too_long: true })
})

it('A webhook gets each run once; what a rule made is left alone.', async () => {
  const run = (id: string) => ({ id, trace_id: 't', end_time: 'now' })
  const { parts, here, called, logged } = ruleHouse({ webhooks: [{ url: 'https://a' }] }, {
    runs: () => ({ runs: ['own', 'made'].map(run), cursors: { next: null } }),
    ruleSpans: () =>
      ['own', 'made'].map((id) => ({ id, trace: 't', project: 'p', marked: id === 'made' })),
    run: () => ({ id: 'own', trace_id: 't', session_id: 'p' }),
  }, { second: { fromUs: 0, throughUs: 1, cursor: null, looked: 0, applied: 0, askedMs: 0 } })
  await readAll(parts, here, AbortSignal.timeout(9_000))
  expect(called).toEqual(['https://a'])
  expect(logged).toMatchObject([{ run_id: 'own', outcome: 'done' }, { run_id: 'made',
    outcome: 'skipped' }])
})
