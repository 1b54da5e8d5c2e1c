/** A limit on concurrent work in all and per host, with a fair order. */

import { getEventListeners } from 'node:events'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FairSemaphore } from '../../../../cluster/flow/fair-semaphore.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { settled } from '../../../support/thread-house.ts'

const forever = new AbortController().signal
const full = 'Too many wait to go out.'

describe('a fair semaphore', () => {
  it('never exceeds its limits, and lets everybody in in the end', async () => {
    const host = fc.constantFrom('a', 'b', 'c')
    await expectAlways(fc.asyncProperty(fc.array(host, { maxLength: 40 }), async (hosts) => {
      const semaphore = new FairSemaphore({ inAll: 4, each: 2, waiting: 100, full })
      const inside: string[] = []
      const through = await Promise.all(hosts.map(async (host) => {
        const leave = await semaphore.enter(host, forever)
        inside.push(host)
        expect(inside.length).toBeLessThanOrEqual(4)
        expect(inside.filter((each) => each === host).length).toBeLessThanOrEqual(2)
        await Promise.resolve()
        inside.splice(inside.indexOf(host), 1)
        leave()
        leave()
        return host
      }))
      expect(through).toEqual(hosts)
      expect(inside).toEqual([])
    }))
  })

  it('lets a waiting host in before one that was in just now', async () => {
    const semaphore = new FairSemaphore({ inAll: 1, each: 1, waiting: 10, full })
    const order: string[] = []
    const enter = async (host: string) => {
      const leave = await semaphore.enter(host, forever)
      order.push(host)
      await settled()
      leave()
    }
    await Promise.all(['a', 'a', 'a', 'a', 'b'].map(enter))
    expect(order).toEqual(['a', 'a', 'b', 'a', 'a'])
  })

  const refusals = async (limits: { waitingEach?: number; longestYields?: boolean }) => {
    const semaphore = new FairSemaphore({ inAll: 1, each: 1, waiting: 2, full, ...limits })
    const refused: string[] = []
    await semaphore.enter('in', forever)
    for (const host of ['a', 'a', 'b']) {
      semaphore.enter(host, forever).catch(() => refused.push(host))
      await settled()
    }
    return refused
  }

  it('refuses the newcomer, or the last of the longest queue, or of a full one', async () => {
    expect(await refusals({})).toEqual(['b'])
    expect(await refusals({ longestYields: true })).toEqual(['a'])
    expect(await refusals({ waitingEach: 1 })).toEqual(['a'])
  })

  it('keeps no abort listener once a caller is in', async () => {
    const semaphore = new FairSemaphore({ inAll: 1, each: 1, waiting: 2, full })
    const { signal } = new AbortController()
    const leave = await semaphore.enter('a', signal)
    const waits = semaphore.enter('a', signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    leave()
    await waits
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('forgets those that give up, and refuses those beyond its limit', async () => {
    const semaphore = new FairSemaphore({ inAll: 1, each: 1, waiting: 1, full })
    const leave = await semaphore.enter('a', forever)
    const stop = new AbortController()
    const waiting = semaphore.enter('a', stop.signal)
    await expect(semaphore.enter('b', forever)).rejects.toThrow('wait to go out')
    stop.abort(new Error('given up'))
    await expect(waiting).rejects.toThrow('given up')
    const next = semaphore.enter('b', forever)
    leave()
    const leaveNext = await next
    leaveNext()
  })
})
