/** Calls that wait for a follower in another member: gathered, bounded, and in order. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FollowOutbox } from '../../../../cluster/transport/follow-outbox.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const callOf = (number: number, length = 4) => {
  const call = Buffer.alloc(length)
  call.writeUInt32LE(number)
  return call
}

async function taken(outbox: FollowOutbox): Promise<number[][]> {
  const batches: number[][] = []
  for await (const batch of outbox.batches()) {
    batches.push(batch.map((call) => Buffer.from(call).readUInt32LE()))
  }
  return batches
}

describe('an outbox', () => {
  it('delivers every call once and in order, and ends after the last one', async () => {
    const pauses = fc.array(fc.boolean(), { minLength: 1, maxLength: 60 })
    await expectAlways(fc.asyncProperty(pauses, async (waits) => {
      const outbox = new FollowOutbox(() => {})
      const reading = taken(outbox)
      for (const [number, wait] of waits.entries()) {
        outbox.put(callOf(number, 100_000), number === waits.length - 1)
        if (wait) await new Promise((resolve) => setImmediate(resolve))
      }
      expect((await reading).flat()).toEqual([...waits.keys()])
      expect([outbox.lagged, outbox.broken]).toEqual([false, false])
    }))
  })

  it('gathers the calls of one tick in a batch', async () => {
    const outbox = new FollowOutbox(() => {})
    const reading = taken(outbox)
    await new Promise((resolve) => setImmediate(resolve))
    for (const number of [0, 1, 2]) outbox.put(callOf(number), number === 2)
    expect(await reading).toEqual([[0, 1, 2]])
  })

  it('takes no more if too much waits, reports that once, and delivers what it has', async () => {
    let lags = 0
    const outbox = new FollowOutbox(() => {
      lags++
    }, 100)
    for (let number = 0; number < 40; number++) outbox.put(callOf(number), false)
    expect([lags, outbox.lagged]).toEqual([1, true])
    expect((await taken(outbox)).flat()).toEqual(Array.from({ length: 25 }, (_, at) => at))
    expect(outbox.lagged).toBe(true)
  })

  it('counts only what still waits, and delivers batches of bounded size', async () => {
    const outbox = new FollowOutbox(() => {}, 600_000)
    const batches = outbox.batches()
    for (const round of [0, 1, 2]) {
      for (const number of [0, 1, 2, 3]) outbox.put(callOf(number, 140_000), false)
      for (const _ of [0, 1]) {
        const { value } = await batches.next()
        expect([round, value]).toEqual([round, [expect.anything(), expect.anything()]])
      }
    }
    expect(outbox.lagged).toBe(false)
  })

  it('takes a single call of any size', async () => {
    const outbox = new FollowOutbox(() => {}, 100)
    outbox.put(callOf(1, 1_000), true)
    expect(await taken(outbox)).toEqual([[1]])
  })

  it('ends without its calls if its reader leaves or it is released', async () => {
    for (const end of ['leave', 'release'] as const) {
      const outbox = new FollowOutbox(() => {})
      const reading = taken(outbox)
      outbox.put(callOf(1), false)
      outbox[end]()
      outbox.put(callOf(2), false)
      expect(await reading).toEqual([])
      expect(outbox.broken).toBe(end === 'release')
    }
  })
})
