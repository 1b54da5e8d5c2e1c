/** Events between a feed that never waits and a caller that reads at its own pace. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { EventQueue } from '../../../../src/frontdoor/connect/event-queue.ts'
import { backlog } from '../../../../src/frontdoor/http/backlog.ts'
import type { FeedEvent } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const event = (id: number, json = '{}'): FeedEvent => ({ id: String(id), name: 'updates', json })

const queueFor = (stillValid = () => true) =>
  new EventQueue<FeedEvent>({ stillValid, charactersOf: ({ json }) => json.length })

async function idsSeen(queue: EventQueue<FeedEvent>): Promise<string[]> {
  const ids = []
  for await (const { id } of queue.emitted()) ids.push(id)
  return ids
}

describe('a queue', () => {
  it('passes on every event once and in order, however feed and caller take turns', async () => {
    await expectAlways(fc.asyncProperty(fc.scheduler(), fc.array(fc.nat(3)), async (s, sizes) => {
      const queue = queueFor()
      let emitted = 0
      const reading = idsSeen(queue)
      for (const size of sizes) {
        void s.schedule(Promise.resolve()).then(() =>
          queue.events(Array.from({ length: size }, () => event(emitted++)))
        )
      }
      await s.waitAll()
      queue.ended('over')
      expect(await reading).toEqual(Array.from({ length: emitted }, (_, n) => String(n)))
    }))
  })

  it.each(['lagged', 'lost'] as const)('passes on what it has, then fails: %s', async (how) => {
    const queue = queueFor()
    queue.events([event(1)])
    queue.ended(how)
    queue.events([event(2)])
    const ids: string[] = []
    const reading = (async () => {
      for await (const { id } of queue.emitted()) ids.push(id)
    })()
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' })
    expect(ids).toEqual(['1'])
  })

  it('fails for a caller with too many or too long events waiting', async () => {
    for (const [count, json] of [[backlog.events, '{}'], [1,
      'x'.repeat(backlog.characters)]] as const) {
      const queue = queueFor()
      for (let n = 0; n < count; n += 1) queue.events([event(n, json)])
      queue.events([event(-1)])
      await expect(idsSeen(queue)).rejects.toThrow('too slowly')
    }
  })

  it('takes any number of events at once', async () => {
    const queue = queueFor()
    queue.events(Array.from({ length: 200_000 }, (_, n) => event(n)))
    queue.ended('over')
    expect(await idsSeen(queue)).toHaveLength(200_000)
  })

  it('continues for a caller that is late but reads', async () => {
    const queue = queueFor()
    const emitted = queue.emitted()
    for (let n = 0; n < 3; n += 1) {
      queue.events([event(n, 'x'.repeat(backlog.characters))])
      expect((await emitted.next()).value).toMatchObject({ id: String(n) })
    }
  })

  it('is ready for more once its events were taken, however short they were', async () => {
    const queue = queueFor()
    expect(queue.ready()).toBeUndefined()
    queue.events(Array.from({ length: 3 * backlog.events }, (_, n) => event(n)))
    let isReady = false
    const ready = queue.ready()!.then(() => {
      isReady = true
    })
    await Promise.resolve()
    expect(isReady).toBe(false)
    await queue.emitted().next()
    await ready
    expect(queue.ready()).toBeUndefined()
  })

  it('fails for a caller that takes nothing for a long time', async () => {
    const queue = queueFor()
    for (let tick = 0; tick < 2 * backlog.ticks; tick += 1) queue.tick()
    queue.events([event(1)])
    const ready = queue.ready()
    for (let tick = 0; tick < backlog.ticks; tick += 1) queue.tick()
    await ready
    await expect(idsSeen(queue)).rejects.toThrow('too slowly')
  })

  it('fails once it is abandoned: a clean end would mean the end of the run', async () => {
    const queue = queueFor()
    queue.events([event(1)])
    queue.abandon()
    await expect(idsSeen(queue)).rejects.toThrow('The client went')
  })
})
