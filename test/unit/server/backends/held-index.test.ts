/** Indexes and the stateless runs that members keep back: who may see these gets them written. */

import { describe, expect, it } from 'vitest'

import { noUse } from '../../../../src/limits/index.ts'
import type { OwnIndex, RunTable, ScatteredIndex } from '../../../../src/search/index.ts'
import { loneWithHeld, ownWithHeld,
  runsWithHeld } from '../../../../src/server/backends/held-index.ts'
import { HeldRuns, InputQuota } from '../../../../src/thread/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

const page = { sortBy: 'thread_id', sortOrder: 'asc', limit: 1, offset: 0 } as const

/** One run of `t@d` that is kept back; `noted` has what was done, in order. */
function world() {
  const noted: string[] = []
  const held = new HeldRuns()
  const inputs = new InputQuota(1_000).of('t')
  const back = held.begin({ namespace: 't@d', inputs, write: async () => {
    await settled()
    noted.push('written')
  } })
  const note = <Answer>(what: string, answer: Answer) => {
    noted.push(what)
    return Promise.resolve(answer)
  }
  const index = {
    threads: { search: () => note('searched', { rows: [], total: 0 }),
      count: () => note('counted', 0) },
    use: () => note('used', { ...noUse, runs: 2 }),
  } as Partial<ScatteredIndex> as ScatteredIndex
  const own: OwnIndex = {
    answer: ({ kind }) =>
      note(kind, { rows: [], total: 0, covered: [], use: { ...noUse, runs: 2 } }),
  }
  const runs = { search: () => note('runs searched', { rows: [], next: undefined }) } as Partial<
    RunTable
  > as RunTable
  return { noted, held, back, lone: loneWithHeld(index, held), own: ownWithHeld(own, held), runs }
}

describe('runs that are kept back', () => {
  it('are written before hidden threads are searched or counted, and for nobody else', async () => {
    const { noted, lone, own } = world()
    const hidden = { tenant: 't@d', hidden: true } as const
    await lone.threads.count({ tenant: 't@d' })
    await lone.threads.search({ tenant: 't', hidden: true, ...page })
    expect(noted.splice(0)).toEqual(['counted', 'searched'])
    await lone.threads.count(hidden)
    await lone.threads.search({ ...hidden, ...page })
    expect(noted.splice(0)).toEqual(['written', 'counted', 'written', 'searched'])
    await own.answer({ kind: 'thread_count', query: hidden })
    await own.answer({ kind: 'thread_find', query: { ...hidden, ...page } })
    expect(noted.splice(0)).toEqual(['written', 'thread_count', 'written', 'thread_find'])
  })

  it('are written before runs are searched, as long as an owner that is away allows', async () => {
    const { noted, lone, runs } = world()
    const env = virtualEnv()
    await runsWithHeld(runs, lone, env).search({ tenant: 't@d', limit: 1 })
    expect(noted.splice(0)).toEqual(['written', 'counted', 'runs searched'])
    const away = { threads: { ...lone.threads, count: () => new Promise<number>(() => {}) } }
    const asked = runsWithHeld(runs, away, env).search({ tenant: 't@d', limit: 1 })
    await settled()
    expect(noted).toEqual([])
    env.advance(2_000)
    await asked
    expect(noted).toEqual(['runs searched'])
  })

  it('count in the use of their tenant until they are over', async () => {
    const { held, back, lone, own } = world()
    const usesOf = async (tenant: string) => [
      (await lone.use(tenant)).runs,
      (await own.answer({ kind: 'tenant_use', query: { tenant } })).use?.runs,
    ]
    expect([await usesOf('t'), await usesOf('u')]).toEqual([[3, 3], [2, 2]])
    expect(held.size).toBe(1)
    back.end()
    expect(await usesOf('t')).toEqual([2, 2])
    expect(held.size).toBe(0)
  })
})
