/** The memory that reads share: who gets it, who waits, and who is refused. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import type { ReadAllowance } from '../../../src/limits/read-quota.ts'
import { virtualEnv } from '../../support/env.ts'

const limits = { inAll: 100, ofTenant: 60, large: 40, ofAnswer: 50, waiting: 2, gathering: 1,
  waitMs: 1_000 }

function aQuota() {
  const env = virtualEnv()
  const quota = new ReadQuota(env, limits)
  const begun: string[] = []
  /** A read that lasts until `end` is called. */
  const begin = (tenant: string, bytes: number, cancelled?: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const result = quota.read({ tenant, bytes, cancelled }, async () => {
      begun.push(`${tenant}${bytes}`)
      await promise
      return 'done'
    })
    result.catch(() => {})
    return { result, end: async () => {
      resolve()
      await result
      await settled()
    } }
  }
  return { env, quota, begun, begin }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a read', () => {
  it('takes memory as long as it lasts', async () => {
    const { quota, begin } = aQuota()
    const read = begin('a', 10)
    expect(quota.stats).toEqual({ bytes: 10, waiting: 0, refused: 0 })
    await read.end()
    expect([await read.result, quota.stats.bytes]).toEqual(['done', 0])
  })

  it('begins again with as much as it turns out to need, and gives back what it had', async () => {
    const { quota } = aQuota()
    const had: number[] = []
    const needs = (bytes: number) => (allowance: ReadAllowance) => {
      had.push(quota.stats.bytes)
      allowance.keep(bytes)
      return Promise.resolve(bytes)
    }
    expect(await quota.read({ tenant: 'a', bytes: 2 }, needs(14))).toBe(14)
    expect(await quota.read({ tenant: 'a', bytes: 2 }, needs(55))).toBe(55)
    expect(had).toEqual([2, 14, 2, 55])
    await expect(quota.read({ tenant: 'a', bytes: 2 }, needs(61))).rejects
      .toMatchObject({ code: 'too_large', details: { bytes: 61 } })
    await expect(quota.read({ tenant: 'a', bytes: 2, most: 10 }, needs(14))).rejects
      .toMatchObject({ code: 'too_large', details: { bytes: 14 } })
    expect(quota.stats.bytes).toBe(0)
  })

  it('counts what is dropped again, and what a part of it leaves behind', async () => {
    const { quota } = aQuota()
    const kept = await quota.read({ tenant: 'a', bytes: 50 }, async (allowance) => {
      const part = allowance.part()
      part.keep(40)
      part.done(15)
      const other = allowance.part()
      other.keep(30)
      return [allowance.kept, other.left]
    })
    expect(kept).toEqual([45, 5])
  })

  it('stops at what it keeps next, once nobody waits for it', async () => {
    const { quota } = aQuota()
    const left = new AbortController()
    const read = quota.read({ tenant: 'a', bytes: 50, cancelled: left.signal },
      async (allowance) => {
        left.abort(new HeddleError('unavailable', 'The caller has left.'))
        allowance.keep(1)
      })
    await expect(read).rejects.toMatchObject({ message: 'The caller has left.' })
    expect(quota.stats.bytes).toBe(0)
  })
})

describe('without enough memory', () => {
  it('the reads of a tenant wait in order, and those of others do not wait for them', async () => {
    const { begun, begin } = aQuota()
    const first = begin('a', 60)
    begin('a', 50)
    begin('a', 1)
    begin('b', 20)
    await settled()
    expect(begun).toEqual(['a60', 'b20'])
    await first.end()
    expect(begun).toEqual(['a60', 'b20', 'a50', 'a1'])
  })

  it('large reads continue one at a time, and small ones beside them', async () => {
    const { begun, begin } = aQuota()
    const first = begin('a', 41)
    for (const [tenant, bytes] of [['b', 42], ['c', 43], ['d', 10]] as const) begin(tenant, bytes)
    await settled()
    expect(begun).toEqual(['a41', 'd10'])
    await first.end()
    expect(begun).toEqual(['a41', 'd10', 'b42'])
  })

  it('tenants get their turns', async () => {
    const { begun, begin } = aQuota()
    const reads = [begin('a', 41), begin('a', 42), begin('a', 43), begin('b', 44), begin('c', 45)]
    for (const at of [0, 1, 3, 4]) await reads[at]!.end()
    expect(begun).toEqual(['a41', 'a42', 'b44', 'c45', 'a43'])
  })

  it('something is left for others, whatever one or two tenants take', async () => {
    const { quota, begin } = aQuota()
    begin('a', 60)
    using shares = new DisposableStack()
    const others = shares.use(quota.share('b'))
    expect(() => others.take({ length: 31 })).toThrow(/all the memory/)
    others.take({ length: 30 })
    shares.use(quota.share('c')).take({ length: 7 })
    expect(quota.stats).toMatchObject({ bytes: 97, refused: 1 })
  })

  it('a read is refused when it has waited too long, or too many wait', async () => {
    const { env, quota, begin } = aQuota()
    begin('a', 60)
    const waiting = begin('a', 30)
    begin('a', 30)
    await expect(begin('a', 30).result).rejects.toMatchObject({ code: 'unavailable',
      httpStatus: 503, details: { retryAfterSeconds: 5 } })
    env.advance(1_000)
    await expect(waiting.result).rejects.toMatchObject({ code: 'unavailable', httpStatus: 503 })
    expect(quota.stats).toEqual({ bytes: 60, waiting: 0, refused: 3 })
    expect(env.timers()).toBe(0)
  })

  it('a read that nobody waits for any more leaves, and lets others in', async () => {
    const { env, quota, begun, begin } = aQuota()
    begin('a', 30)
    const left = new AbortController()
    const waiting = begin('a', 50, left.signal)
    begin('a', 20)
    left.abort(new HeddleError('unavailable', 'The caller has left.'))
    await expect(waiting.result).rejects.toMatchObject({ message: 'The caller has left.' })
    await settled()
    expect([begun, quota.stats.waiting, env.timers()]).toEqual([['a30', 'a20'], 0, 0])
    await expect(begin('a', 1, left.signal).result).rejects
      .toMatchObject({ message: 'The caller has left.' })
  })
})

describe('a turn', () => {
  it('is had by one read of each tenant, and waited for by few', async () => {
    const { env, quota } = aQuota()
    const leave = await quota.turn('a')
    const order: string[] = []
    const next = quota.turn('a').then((left) => {
      order.push('a')
      return left
    })
    await expect(quota.turn('a')).rejects.toMatchObject({ code: 'unavailable',
      details: { retryAfterSeconds: 5 } })
    ;(await quota.turn('b'))()
    expect(order).toEqual([])
    leave()
    const second = await next
    const late = quota.turn('a')
    env.advance(1_000)
    await expect(late).rejects.toMatchObject({ code: 'unavailable' })
    second()
    expect([quota.stats.refused, env.timers()]).toEqual([2, 0])
  })
})

describe('a share', () => {
  it('has a limit for one answer, and none for what exists already', () => {
    const { quota } = aQuota()
    using share = quota.share('a')
    share.take({ length: 20 }, { length: 30 })
    expect(() => share.take({ length: 1 })).toThrow('ask for a smaller page with "limit"')
    share.hold({ length: 100 })
    expect(quota.stats.bytes).toBe(150)
    share[Symbol.dispose]()
    expect(quota.stats.bytes).toBe(0)
  })
})
