/** Quotas of tenants: never more than the quota, however many ask at once; nobody waits in vain. */

import { describe, expect, it } from 'vitest'

import { noUse } from '../../../src/limits/index.ts'
import type { TenantUse } from '../../../src/limits/index.ts'
import { Quotas, unlimited } from '../../../src/limits/quotas.ts'
import type { QuotaLimits } from '../../../src/limits/quotas.ts'
import { virtualEnv } from '../../support/env.ts'
import { settled } from '../../support/thread-house.ts'

/** `stored` is what the owners say, and how often they were asked is counted. */
function quotasWith(limits: Partial<QuotaLimits>, use: Partial<TenantUse> = {}) {
  const env = virtualEnv()
  const stored = { ...noUse, ...use }
  const owners = { asked: 0, away: false }
  const quotas = new Quotas({ limits: { ...unlimited, ...limits }, use: async (tenant) => {
    owners.asked++
    if (owners.away) throw new Error('away')
    return tenant === 't' ? { ...stored } : noUse
  } }, env)
  return { env, stored, owners, quotas }
}

const done = async () => {}

describe('a quota of what is stored', () => {
  it('is never exceeded by requests at the same time, and says what is used up', async () => {
    const { quotas, stored } = quotasWith({ threads: 10 }, { threads: 4 })
    const create = () =>
      quotas.within('t', { threads: 1 }, async () => {
        await settled()
        stored.threads++
      })
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, create))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    expect(stored.threads).toBe(10)
    await expect(create()).rejects.toMatchObject({ code: 'out_of_quota', httpStatus: 507,
      details: { quota: { name: 'threads', limit: 10 } } })
    expect(quotas.stats()).toMatchObject({ highest: { threads: 1 }, refused: { threads: 15 } })
    stored.threads--
    await create()
  })

  it('counts what was done after the owners were asked, until they tell of it', async () => {
    const { quotas, stored, owners, env } = quotasWith({ runs: 100 })
    const start = () => quotas.within('t', { runs: 1 }, done)
    for (let i = 0; i < 80; i++) await start()
    expect(owners.asked).toBe(1)
    stored.runs = 80
    env.advance(2_000)
    for (let i = 0; i < 20; i++)
      await start().then(() => {
        stored.runs++
      })
    await expect(start()).rejects.toMatchObject({ code: 'over_quota', httpStatus: 429 })
    expect(await quotas.within('other', { runs: 1 }, async () => 'done')).toBe('done')
  })

  it('does not count what failed', async () => {
    const { quotas } = quotasWith({ runs: 1 })
    const fail = () => quotas.within('t', { runs: 1 }, () => Promise.reject(new Error('no')))
    for (let i = 0; i < 3; i++) await expect(fail()).rejects.toThrow('no')
    await quotas.within('t', { runs: 1 }, done)
  })

  it('of bytes refuses whatever writes more, and lets through when some were deleted', async () => {
    const { quotas, stored } = quotasWith({ bytes: 1_000 }, { bytes: 999 })
    await quotas.within('t', {}, async () => {
      stored.bytes = 5_000
    })
    await expect(quotas.within('t', { runs: 1 }, done))
      .rejects.toMatchObject({ code: 'out_of_quota', details: { quota: { name: 'stored_bytes' } } })
    stored.bytes = 0
    await quotas.within('t', {}, done)
  })

  it('of runs does not count those that wait for their time, which have one of their own',
    async () => {
      const { quotas } = quotasWith({ runs: 5, delayedRuns: 8 }, { runs: 11, delayedRuns: 8 })
      await quotas.within('t', { runs: 1 }, done)
      await expect(quotas.within('t', { delayedRuns: 1 }, done))
        .rejects.toMatchObject({ details: { quota: { name: 'delayed_runs', limit: 8 } } })
    })

  it('of threads lets a request through that finds its thread', async () => {
    const { quotas, stored } = quotasWith({ threads: 3, runs: 5 }, { threads: 3, runs: 4 })
    const start = (there: boolean) =>
      quotas.within('t', { threads: 1, runs: 1, exists: async () => there }, async () => {
        stored.runs++
      })
    await expect(start(false)).rejects.toMatchObject({ code: 'out_of_quota' })
    await start(true)
    await expect(start(true)).rejects.toMatchObject({ code: 'over_quota' })
  })

  it('lets nobody wait while enough is left, and asks once a second', async () => {
    const { quotas, owners, env } = quotasWith({ threads: 1_000 })
    await quotas.within('t', { threads: 1 }, done)
    owners.away = true
    for (let second = 0; second < 3; second++) {
      env.advance(1_001)
      for (let i = 0; i < 50; i++) await quotas.within('t', { threads: 1 }, done)
    }
    expect(owners.asked).toBe(4)
  })

  it('lets through what fits in what is known while the owners are away', async () => {
    const { quotas, owners } = quotasWith({ runs: 2 })
    owners.away = true
    await quotas.within('t', { runs: 1 }, done)
    await quotas.within('t', { runs: 1 }, done)
    await expect(quotas.within('t', { runs: 1 }, done))
      .rejects.toMatchObject({ code: 'over_quota' })
  })

  it('costs nothing where there is none', async () => {
    const { quotas, owners } = quotasWith({ streams: 1 })
    await quotas.within('t', { runs: 1, threads: 1 }, done)
    expect(owners.asked).toBe(0)
  })
})

describe('a quota of streams', () => {
  it('counts those that are open, by tenant', () => {
    const { quotas } = quotasWith({ streams: 2 })
    const open = () => quotas.stream('t')
    const [first] = [open(), open()]
    expect(open).toThrow(expect.objectContaining({ code: 'over_quota' }))
    quotas.stream('other')
    first![Symbol.dispose]()
    first![Symbol.dispose]()
    open()
    expect(open).toThrow('2 streams')
  })
})
