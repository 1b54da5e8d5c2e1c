/** Memory that the remembered states of a thread are charged with. */

import { expect, it } from 'vitest'

import { ByteBudget } from '../../../../cluster/index.ts'
import { Form } from '../../../../proto/gen/storage/v1/value.ts'
import { ChannelView } from '../../../../src/checkpoint/index.ts'
import { RecentViews } from '../../../../src/thread/log/recent-views.ts'

const megabyte = 1024 * 1024

/** The change of a channel to a text of one megabyte. */
const changed = (channel: string) => [{
  channel,
  change: { $case: 'set' as const,
    value: { json: `"${'x'.repeat(megabyte)}"`, form: Form.FORM_UNSPECIFIED } },
}]

it('charges each state that shares nothing with the others', () => {
  const budget = new ByteBudget<object>(Infinity)
  const views = new RecentViews(budget)
  for (let i = 0; i < 10; i++) views.remember(`c${i}`, ChannelView.empty.apply(changed('a'), true))
  // It retains eight states.
  expect(budget.bytes).toBeGreaterThan(8 * megabyte)
  views.keepOnly('c9')
  expect(budget.bytes).toBeLessThan(3 * megabyte)
  views.keepOnly(undefined)
  expect([budget.bytes, budget.holders]).toEqual([0, 0])
})

it('charges once what states share', () => {
  const budget = new ByteBudget<object>(Infinity)
  const views = new RecentViews(budget)
  let view = ChannelView.empty.apply(changed('a'), true)
  views.remember('c', view)
  const { bytes } = budget
  for (let i = 0; i < 7; i++) {
    view = view.apply([{ channel: 'b',
      change: { $case: 'set', value: { json: `${i}`, form: Form.FORM_UNSPECIFIED } } }], false)
    views.remember(`c${i}`, view)
  }
  expect(budget.bytes).toBeLessThan(bytes + 7 * 1_000)
})

it('releases its states if another thread needs the memory', () => {
  const budget = new ByteBudget<object>(5 * megabyte)
  const [one, another] = [new RecentViews(budget), new RecentViews(budget)]
  for (const id of ['c1', 'c2']) one.remember(id, ChannelView.empty.apply(changed('a'), true))
  another.remember('d', ChannelView.empty.apply(changed('a'), true))
  expect([one.get('c2'), another.get('d')]).toEqual([undefined, expect.any(ChannelView)])
})
