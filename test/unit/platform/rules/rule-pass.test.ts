/** What actions get of a span. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { detailOf } from '../../../../src/platform/rules/rule-pass.ts'

it.each([
  ['a little long', () => Promise.resolve(Buffer.from(`{"inputs":"${'x'.repeat(1_100_000)}"}`))],
  ['longer than any answer', () => Promise.reject(new HeddleError('too_large'))],
])('A span that is %s has no payload, and holds up nothing', async (_, whole) => {
  const run = ({ select = [] }: { readonly select?: readonly string[] }): Promise<Uint8Array> =>
    select.includes('inputs') ? whole() : Promise.resolve(Buffer.from('{"id":"1"}'))
  const found = detailOf({ query: () => ({ run }) }, 'acme', '1', [], AbortSignal.timeout(9_000))
  expect(await found).toEqual({ id: '1', too_long: true })
})
