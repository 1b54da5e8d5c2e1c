/** Deleting the crons of what is deleted: all of them, with few bytes in memory at once. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { cronRemoval } from '../../../../src/frontdoor/operations/cron-removal.ts'
import { aCron } from '../../../contract/rows.ts'
import { virtualEnv } from '../../../support/env.ts'
import { noCrons } from '../no-crons.ts'

it('crons that are too large for one page are deleted one by one', async () => {
  const kilobytes = 1_024
  const left = Array.from({ length: 12 }, () => aCron({ payloadJson: 'x'.repeat(900 * kilobytes) }))
  const removal = cronRemoval({
    env: virtualEnv(),
    crons: { ...noCrons.crons, delete: async ({ cronId }) => {
      left.splice(left.findIndex((each) => each.cronId === cronId), 1)
    } },
    cronIndex: { ...noCrons.cronIndex, search: async ({ limit, bytes = Infinity }) => {
      const rows = left.slice(0, limit)
      if (rows.length * 900 * kilobytes <= bytes) return { rows, total: left.length }
      throw new HeddleError('too_large')
    } },
  })
  await removal({ tenant: 't' })
  expect(left).toEqual([])
})

it('a page of all crons is never read without a bound', async () => {
  const asked: (number | undefined)[] = []
  const removal = cronRemoval({ env: virtualEnv(), crons: noCrons.crons,
    cronIndex: { ...noCrons.cronIndex, search: async ({ bytes }) => {
      asked.push(bytes)
      return { rows: [], total: 0 }
    } } })
  await removal({ tenant: 't' })
  expect(asked).toEqual([expect.any(Number)])
})
