/** Roll-ups: what is in no cell, who makes them, and how exact percentiles are. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { SpanStore } from '../../../../src/platform/index.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { bucketsIn, writeBuckets } from '../../../../src/platform/query/statistics/bucket-bytes.ts'
import { addDistribution, addNumber, emptyDistribution,
  percentileOf } from '../../../../src/platform/query/statistics/distribution.ts'
import type { RunsQuestion } from '../../../../src/platform/query/question.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { projectOf } from '../../../support/random-spans.ts'

const project = projectOf('aaaaaaaa-0000-4000-8000-000000000001')
const nowMs = Date.UTC(2026, 10, 26, 12, 30)
const startUs = Date.UTC(2026, 10, 26, 10) * 1000
const question: RunsQuestion = { tenant: 'acme', projects: [project], version: 1, order: 'newest',
  limit: 10, select: ['run_count'] }
const read = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as unknown

/** A store with spans of these names, in an hour that has ended. */
async function opened(names: readonly string[]) {
  const env = virtualEnv(nowMs)
  const memory = memorySpans(() => env.nowMs() * 1000)
  const scans: number[] = []
  const puts: number[] = []
  const store: SpanStore = {
    ...memory,
    scan: (plan, after) => {
      scans.push(plan.fromUs)
      return memory.scan(plan, after)
    },
    putRollUp: (...put) => {
      puts.push(put[2])
      return memory.putRollUp(...put)
    },
  }
  await store.write({ tenant: 'acme', blocks: [], files: [], timeToLiveS: new Map(),
    spans: names.map((name, no) => {
      const id = `bbbbbbbb-0000-4000-8000-${String(no).padStart(12, '0')}`
      return {
        place: { tenant: 'acme', project: project.id, startUs: startUs + no, id, trace: id,
          traceStartUs: startUs + no },
        kind: 'post',
        arrivedUs: startUs,
        terms: [],
        indexed: 0,
        block: null,
        fields: { ...noFields, name, type: 'tool', root: true },
      }
    }) })
  env.advance(1)
  return { handlers: queryHandlers({ store, env }), scans, puts }
}

it('Spans of more names than an hour has cells are counted all the same.', async () => {
  const names = Array.from({ length: 1_100 }, (_, no) => `tool ${no}`)
  const { handlers } = await opened([...names, 'tool 1099', 'x'.repeat(500)])
  const counted = async (more: Partial<RunsQuestion>) =>
    read(await handlers.stats({ ...question, ...more }))
  for (let again = 0; again < 2; again++) {
    expect(await counted({})).toEqual({ run_count: 1_102 })
    expect(await counted({ rootsOnly: true })).toEqual({ run_count: 1_102 })
    expect(await counted({ filter: 'eq(name, "tool 1099")' })).toEqual({ run_count: 2 })
    expect(await counted({ filter: `eq(name, "${'x'.repeat(500)}")` })).toEqual({ run_count: 1 })
    expect(await counted({ type: 'tool' })).toEqual({ run_count: 1_102 })
    expect(await counted({ type: 'llm' })).toEqual({ run_count: 0 })
  }
})

it('An hour is rolled up once, however many ask at once.', async () => {
  const { handlers, scans, puts } = await opened(['a', 'b'])
  const answers = await Promise.all(Array.from({ length: 5 }, () => handlers.stats(question)))
  for (const answer of answers) expect(read(answer)).toEqual({ run_count: 2 })
  expect(puts).toHaveLength(1)
  expect(scans.filter((fromUs) => fromUs === startUs)).toHaveLength(1)
})

it('Percentiles of numbers of any size are within 1.5 percent, also from bytes.', () => {
  const aNumber = fc.double({ min: -20, max: 30, noNaN: true }).map((power) => 2 ** power)
  expectAlways(
    fc.property(fc.array(aNumber, { minLength: 1, maxLength: 300 }), fc.nat({ max: 300 }),
      fc.constantFrom(0.5, 0.9, 0.99), (numbers, cut, share) => {
      const scale = 2 ** 20
      const into = emptyDistribution()
      for (const part of [numbers.slice(0, cut), numbers.slice(cut)]) {
        const some = emptyDistribution()
        for (const number of part) addNumber(some, number, scale)
        addDistribution(into, { ...some, buckets: bucketsIn(writeBuckets(some.buckets)) })
      }
      const exact = numbers.toSorted((a, b) => a - b)[Math.ceil(share * numbers.length) - 1]!
      const found = percentileOf(into, share, scale)!
      expect(Math.abs(found - exact) / exact).toBeLessThan(0.015)
    }),
  )
})
