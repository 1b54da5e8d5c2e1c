/** Memory that threads share is bounded: the least recently used or the oldest entry goes. */

import { expect, it } from 'vitest'

import { ByteBudget } from '../../../../cluster/index.ts'
import type { ActorContext } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { Interruptions } from '../../../../src/thread/actor/interruptions.ts'

it('A budget drops the least recently used holders, but never the newest.', () => {
  const budget = new ByteBudget<string>(10)
  const left: string[] = []
  const hold = (key: string, bytes: number) => budget.hold(key, bytes, () => left.push(key))
  for (const key of ['a', 'b', 'a']) hold(key, 5)
  expect(left).toEqual([])
  hold('c', 1)
  expect(left).toEqual(['b'])
  budget.release('a')
  hold('d', 9)
  expect(left).toEqual(['b'])
  hold('e', 20)
  expect(left).toEqual(['b', 'c', 'd'])
  hold('f', 1)
  expect(left).toEqual(['b', 'c', 'd', 'e'])
})

it('A failure of the store is passed on once in its epoch, for 10,000 threads.', () => {
  const interruptions = new Interruptions()
  const life = (id: string, epoch = 1) =>
    ({ key: { kind: 'thread', tenant: 't', id }, epoch }) as ActorContext
  const away = new HeddleError('unavailable')
  for (let i = 0; i <= 10_000; i++) interruptions.note(life(`${i}`), away)
  interruptions.note(life('broken'), new HeddleError('stale_append'))
  const known = [life('0'), life('broken'), life('1', 2), life('1'), life('1'), life('10000')]
  expect(known.map((each) => interruptions.take(each)))
    .toEqual([false, false, false, true, false, true])
})
