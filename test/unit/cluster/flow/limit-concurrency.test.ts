/** A limit on concurrent work, which is begun in the order in which it came. */

import { expect, it } from 'vitest'

import { limitConcurrency } from '../../../../cluster/flow/limit-concurrency.ts'

it('A limit is never exceeded, and all work is done even if some of it fails.', async () => {
  const limited = limitConcurrency(2)
  const begun: number[] = []
  let running = 0
  let most = 0
  const all = await Promise.allSettled([0, 1, 2, 3, 4].map((number) =>
    limited(async () => {
      begun.push(number)
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      if (number % 2 === 1) throw new Error('odd')
      return number
    })
  ))
  expect(begun).toEqual([0, 1, 2, 3, 4])
  expect(most).toBe(2)
  expect(all.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true])
  expect(await limited(async () => 'again')).toBe('again')
})
