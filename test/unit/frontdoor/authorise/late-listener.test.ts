/** A follower of a thread that did not exist when the follow started. */

import { expect, it } from 'vitest'

import { LateListener } from '../../../../src/frontdoor/authorise/late-listener.ts'
import { threadEvent } from '../fake-threads.ts'

function opened(sees: () => Promise<boolean | undefined>) {
  const received: unknown[] = []
  const late = new LateListener({
    events: (batch) => received.push(...batch.map(({ seq }) => seq)),
    ended: (how) => received.push(how),
  }, sees)
  return { late, received, settled: async () => await new Promise(setImmediate) }
}

it('gets the events of a thread that it sees, in order', async () => {
  const { late, received, settled } = opened(async () => true)
  late.events([threadEvent(1)])
  late.events([threadEvent(2)])
  await settled()
  late.events([threadEvent(3)])
  expect(received).toEqual([1, 2, 3])
})

it.each([
  ['belongs to another user', async () => false],
  ['was deleted again', async () => undefined],
  ['cannot be read', () => Promise.reject(new Error('away'))],
])('gets no event and ends if the thread %s', async (_, sees) => {
  const { late, received, settled } = opened(sees)
  late.events([threadEvent(1)])
  await settled()
  late.events([threadEvent(2)])
  late.ended('gone')
  expect(received).toEqual(['lost'])
})

it('stays ended if too many events come before the check is done', async () => {
  const seen = Promise.withResolvers<boolean>()
  const { late, received, settled } = opened(() => seen.promise)
  late.events(Array.from({ length: 10_001 }, (__, seq) => threadEvent(seq)))
  seen.resolve(true)
  await settled()
  late.events([threadEvent(20_000)])
  expect(received).toEqual(['lost'])
})
