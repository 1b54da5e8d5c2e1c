/** Statistics by roll-ups are those of a fold over all spans, whatever was written in between. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { noFields } from '../../src/platform/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { Plan, SpanFields, SpanHead, SpanPlace, SpanStore } from '../../src/platform/index.ts'
import { queryHandlers } from '../../src/platform/threads/query-handlers.ts'
import type { ByKind } from '../../src/platform/spans/token-kinds.ts'
import type { GroupBy, RunsQuestion } from '../../src/platform/query/question.ts'
import type { QueryHandlers } from '../../src/platform/threads/platform-calls.ts'
import { expectAlways } from '../support/expect-always.ts'
import { someKinds } from '../support/some-kinds.ts'
import { projectOf } from '../support/random-spans.ts'
import { newTenant, useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

const project = projectOf('aaaaaaaa-0000-4000-8000-000000000001', 2)
const hourUs = 3600e6

const [names, types] = [['agent', 'model', 'a "b"', null], ['chain', 'llm', null]] as const

/** When all began: a part of an hour has passed. */
export const statisticsBeganMs = Math.floor(Date.now() / 3600e3) * 3600e3 + 20 * 60e3
const firstHour = Math.floor(statisticsBeganMs / 3600e3) - 5
const firstUs = firstHour * hourUs

/** The clock of a suite: the stores have the same one. */
export interface StatisticsClock {
  readonly env: Env
  /** Lets so much time pass, if it is no real clock. */
  pass(ms: number): void
}

const feedbackId = (no: number, span: number) => `ffffffff-0000-4000-8000-0000000000${no}${span}`

/** Ten spans, each in a trace of its own, over six hours of which the last one is running. */
function placeOf(tenant: string, span: number): SpanPlace {
  const id = `bbbbbbbb-0000-4000-8000-${String(span).padStart(12, '0')}`
  const startUs = firstUs + span * 0.6 * hourUs
  return { tenant, project: project.id, startUs, id, trace: id, traceStartUs: startUs }
}

const amount = fc.option(fc.integer({ min: 0, max: 5_000 }))
const cost = fc.option(fc.constantFrom(0, 0.25, 0.5, 1 / 1024, 1 / 2 ** 20))
const lasts = fc.option(fc.integer({ min: -5, max: 9e6 }))

type Step =
  | { readonly kind: 'write'; readonly span: number; readonly patch: boolean;
    readonly lastsUs: number | null; readonly firstUs: number | null;
    readonly fields: Partial<SpanFields> }
  | { readonly kind: 'feedback'; readonly span: number; readonly id: number;
    readonly score: number | null; readonly value: string | null }
  | { readonly kind: 'unsay'; readonly id: number }
  | { readonly kind: 'remove'; readonly span: number }
  | { readonly kind: 'ask' }

/** With these around them, all histories keep a roll-up, also the shortest. */
const aWrite: Step = { kind: 'write', span: 0, patch: false, lastsUs: null, firstUs: null,
  fields: {} }
const anAsk: Step = { kind: 'ask' }

const span = fc.nat({ max: 9 })
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({
    kind: fc.constant('write' as const),
    span,
    patch: fc.boolean(),
    lastsUs: lasts,
    firstUs: lasts,
    fields: fc.record({ name: fc.constantFrom(...names), type: fc.constantFrom(...types),
      root: fc.option(fc.boolean()), failed: fc.option(fc.boolean()), promptTokens: amount,
      completionTokens: amount, totalTokens: amount, promptCost: cost, completionCost: cost,
      totalCost: cost, kinds: someKinds() }),
  }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('feedback' as const), span, id: fc.nat({ max: 5 }),
      score: fc.option(fc.constantFrom(0, 0.5, 1)),
      value: fc.option(fc.constantFrom('yes', 'no')) }) },
  { weight: 1,
    arbitrary: fc.record({ kind: fc.constant('unsay' as const), id: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), span }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'ask' as const }) },
)

/** A question, and which spans it is about. */
const questions: readonly (readonly [Partial<RunsQuestion>, (head: SpanHead) => boolean])[] = [
  [{}, () => true],
  [{ rootsOnly: true, filter: 'neq(name, "nothing")' }, ({ root }) => root === true],
  [{ type: 'llm' }, ({ type }) => type === 'llm'],
  [{ filter: 'and(neq(name, "agent"), eq(is_root, false))' },
    ({ name, root }) => name !== 'agent' && root !== true],
  [{ fromUs: firstUs + 0.5 * hourUs, toUs: firstUs + 4.7 * hourUs },
    ({ startUs }) => startUs >= firstUs + 0.5 * hourUs && startUs < firstUs + 4.7 * hourUs],
]

const read = (bytes: Uint8Array) =>
  JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>

async function take(store: SpanStore, tenant: string, step: Step, atUs: number): Promise<void> {
  switch (step.kind) {
    case 'write': {
      const place = placeOf(tenant, step.span)
      const after = (us: number | null) => (us === null ? null : place.startUs + us)
      const fields = { ...noFields, ...step.fields, endUs: after(step.lastsUs),
        firstTokenUs: after(step.firstUs) }
      await store.write({ tenant, blocks: [], files: [], timeToLiveS: new Map(),
        spans: [{ place, kind: step.patch ? 'patch' : 'post', arrivedUs: atUs, terms: [],
          indexed: 0, block: null, fields }] })
      return
    }
    case 'feedback': {
      const place = placeOf(tenant, step.span)
      const { score, value } = step
      await store.putFeedback([{ place,
        row: { tenant, id: feedbackId(step.id, step.span), span: place.id, trace: place.id,
          project: project.id, key: step.id < 3 ? 'good' : 'bad', score, value, createdUs: atUs,
          modifiedUs: atUs, bodyJson: '{}' } }])
      return
    }
    case 'unsay':
      for (let of = 0; of < 10; of += 3) await store.deleteFeedback(tenant, feedbackId(step.id, of))
      return
    case 'remove':
      return store.remove(tenant, { kind: 'traces', traces: [placeOf(tenant, step.span)] })
    default:
  }
}

/** What the statistics must be, as simply as can be. */
function expectStats(stats: Record<string, unknown>, heads: readonly SpanHead[]): void {
  const numbers = (of: (head: SpanHead) => number | null) =>
    heads.flatMap((head) => of(head) ?? []).toSorted((a, b) => a - b)
  const near = (name: string, values: readonly number[], part: number, slack = 0) => {
    const exact = values[Math.max(1, Math.ceil(part * values.length)) - 1]
    if (exact === undefined) expect(stats[name]).toBeNull()
    else {
      expect(Math.abs(Number(stats[name]) - exact), name).toBeLessThanOrEqual(exact * 0.015 + slack)
    }
  }
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)
  const latencies = numbers(({ startUs, endUs }) =>
    endUs === null ? null : Math.max(0, endUs - startUs) / 1e6
  )
  const total = numbers(({ totalTokens }) => totalTokens)
  const costs = numbers(({ totalCost }) => totalCost)
  expect(stats['run_count']).toBe(heads.length)
  near('latency_p50', latencies, 0.5)
  near('latency_p99', latencies, 0.99)
  near('median_tokens', total, 0.5, 0.5)
  near('tokens_p99', total, 0.99, 0.5)
  near('cost_p50', costs, 0.5)
  expect(stats['total_tokens']).toBe(sum(total))
  expect(Number(stats['total_cost'])).toBeCloseTo(sum(costs), 9)
  if (heads.length > 0) {
    const share = (test: (head: SpanHead) => boolean) => heads.filter(test).length / heads.length
    expect(stats['error_rate']).toBe(share(({ failed }) => failed === true))
    expect(stats['streaming_rate']).toBe(share(({ firstTokenUs }) => firstTokenUs !== null))
  }
  for (const kind of ['cache_read', '__proto__']) {
    const used = heads.flatMap(({ kinds }) => ownOf(kinds?.promptTokens, kind))
    const shown = ownOf(stats['prompt_token_details'] as ByKind | null, kind)
    expect(shown).toEqual(used.length === 0 ? [] : [sum(used)])
    const cost = heads.flatMap(({ kinds }) => ownOf(kinds?.promptCost, kind))
    const costs = ownOf(stats['prompt_cost_details'] as ByKind | null, kind)
    expect(costs.map(Number)).toEqual(cost.length === 0 ? [] : [sum(cost)])
  }
  const marks = Map.groupBy(heads.flatMap(({ feedback }) => feedback), ({ key }) => key)
  const feedback = stats['feedback_stats'] as Record<string, { n: number; avg: number | null }>
  expect(Object.keys(feedback).toSorted()).toEqual([...marks.keys()].toSorted())
  for (const [key, own] of marks) {
    const scores = own.flatMap(({ score }) => (score === null ? [] : [score]))
    expect(feedback[key]).toMatchObject({ n: own.length,
      avg: scores.length === 0 ? null : sum(scores) / scores.length })
  }
}

/** The number of a kind, if it is there. */
function ownOf(numbers: ByKind | null | undefined, kind: string): readonly number[] {
  return numbers && Object.hasOwn(numbers, kind) ? [numbers[kind]!] : []
}

const byHeads = 'or(eq(status, "error"), neq(status, "error"))'
const everything: Omit<Plan, 'tenant'> = { projects: [project.id], fromUs: 0,
  toUs: Number.MAX_SAFE_INTEGER, order: 'oldest', rootsOnly: false, terms: [], ranges: [],
  type: null, name: null }

async function headsIn(store: SpanStore, tenant: string): Promise<readonly SpanHead[]> {
  const heads: SpanHead[] = []
  for await (const slice of store.scan({ ...everything, tenant })) heads.push(...slice.heads)
  return heads
}

/** Asks every question in both ways. */
async function ask(handlers: QueryHandlers, store: SpanStore, tenant: string): Promise<void> {
  const heads = await headsIn(store, tenant)
  for (const [more, isWanted] of questions) {
    const question: RunsQuestion = { tenant, projects: [project], version: 1, order: 'newest',
      limit: 10, ...more }
    const filter = more.filter === undefined ? byHeads : `and(${more.filter}, ${byHeads})`
    const stats = read(await handlers.stats(question))
    expectStats(stats, heads.filter(isWanted))
    expect(stats).toEqual(read(await handlers.stats({ ...question, filter })))
    for (const attribute of ['name', 'run_type'] as const) {
      const groupBy: GroupBy = { attribute, maxGroups: 10 }
      expect(read(await handlers.stats({ ...question, groupBy })))
        .toEqual(read(await handlers.stats({ ...question, groupBy, filter })))
    }
  }
}

/** Traces are counted by their roots, and have the tokens of all their spans. */
async function askForTraces(handlers: QueryHandlers, store: SpanStore,
  tenant: string): Promise<void> {
  const heads = await headsIn(store, tenant)
  const stats = { run_count: heads.filter(({ root }) => root === true).length,
    total_tokens: heads.reduce((sum, { totalTokens }) => sum + (totalTokens ?? 0), 0) }
  const question: RunsQuestion = { tenant, projects: [project], version: 1, order: 'newest',
    limit: 10 }
  expect(read(await handlers.stats({ ...question, rootsOnly: true }))).toMatchObject(stats)
  expect(read(await handlers.projectStats({ tenant, projects: [project] })))
    .toMatchObject([stats])
}

/** What holds for statistics over every store. */
export function describeStatistics(name: string, open: () => Promise<OpenSpans>,
  { env, pass }: StatisticsClock): void {
  describe(`statistics over the ${name} store`, () => {
    const spans = useSpans(open)

    it('by roll-ups are those of all spans, also after late writes and removals', async () => {
      const { writer, reader } = spans
      const handlers = queryHandlers({ store: reader, env })
      let kept = 0
      await expectAlways(
        fc.asyncProperty(fc.array(aStep, { maxLength: 30 }), async (steps) => {
          const tenant = newTenant()
          for (const step of [aWrite, anAsk, ...steps, anAsk]) {
            await take(writer, tenant, step, env.nowMs() * 1000)
            // Longer than a commit takes; the hour does not end.
            pass(step.kind === 'ask' ? 1_100 : 1)
            if (step.kind !== 'ask') continue
            await ask(handlers, reader, tenant)
            await askForTraces(handlers, reader, tenant)
            kept += (await reader.rollUps(tenant, project.id, firstHour, firstHour + 6)).size
          }
        }),
        { share: 20 },
      )
      expect(kept).toBeGreaterThan(0)
    })
  })
}
