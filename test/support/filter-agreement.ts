/**
 * Random filters on random spans. A store may leave out what a plan allows it to, and nothing else:
 * all pages of a question together are what a plain look at every span finds.
 */

import fc from 'fast-check'
import { expect } from 'vitest'

import { conditionsOf } from '../../src/platform/query/conditions.ts'
import type { Content } from '../../src/platform/query/payload/content.ts'
import { writeCursor } from '../../src/platform/query/cursor.ts'
import type { Filter } from '../../src/platform/query/filter/filter.ts'
import { inOrder } from '../../src/platform/query/payload/order.ts'
import { findPage } from '../../src/platform/query/page.ts'
import { payloadsIn } from '../../src/platform/query/payload/payloads.ts'
import { readFilter } from '../../src/platform/query/filter/read-filter.ts'
import { spanTest } from '../../src/platform/query/filter/test-span.ts'
import type { RunsQuestion } from '../../src/platform/query/question.ts'
import type { SpanHead, SpanStore } from '../../src/platform/index.ts'
import { exampleId, randomSpans, randomSpansBeganMs } from './random-spans.ts'
import type { RandomSpans } from './random-spans.ts'

const text = fc.constantFrom('agent', 'a', 'b', '1', 'true', 'zz', 'tool "x"', 'llm', 'thread-1')
const literal = fc.oneof(text.map((each) => JSON.stringify(each)),
  fc.constantFrom('1', '2.5', 'true', 'null', "'a'"))
const order = fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte')
const equality = fc.constantFrom('eq', 'neq')
const key = fc.constantFrom('k', 'user', 'env', 'langgraph_node', 'nest', 'q', 'deep.n', 'good',
  'bad')
const isoTime = fc.integer({ min: -5, max: 60 }).map((ms) =>
  JSON.stringify(new Date(randomSpansBeganMs + ms).toISOString())
)

const joined = (...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map(([name, ...rest]) => `${name}(${rest.join(', ')})`)
const list = (each: fc.Arbitrary<string>) =>
  fc.array(each, { maxLength: 3 }).map((all) => `[${all.join(', ')}]`)
const fixed = (each: string) => fc.constant(each)
const pair = (of: string, value: string, ops = order) =>
  joined(fixed('and'), joined(equality, fixed(`${of}_key`), key.map((each) =>
    JSON.stringify(each)
  )), joined(ops, fixed(`${of}_${value}`), value === 'score'
    ? fc.constantFrom('0', '0.5', '1')
    : literal))

const leaf = fc.oneof(
  joined(order, fc.constantFrom('name', 'run_type', 'thread_id'),
    text.map((each) => JSON.stringify(each))),
  joined(equality,
    fc.constantFrom('name', 'thread_id', 'error', 'end_time', 'total_tokens', 'total_cost',
      'reference_example_id'), fixed('null')),
  joined(equality, fixed('status'), fc.constantFrom('"error"', '"success"', '"pending"')),
  joined(equality, fixed('is_root'), fc.constantFrom('true', 'false')),
  joined(order, fixed('total_tokens'), fc.constantFrom('0', '3', '8')),
  joined(order, fixed('total_cost'), fc.constantFrom('0', '0.1', '0.002')),
  joined(order, fixed('latency'), fc.constantFrom('0.5', '"2s"', '1.1', '2.999')),
  joined(order, fc.constantFrom('start_time', 'end_time'), isoTime),
  joined(order, fixed('execution_order'), fixed('1')),
  joined(equality, fixed('reference_example_id'), fixed(`"${exampleId(1)}"`)),
  joined(fixed('in'), fc.constantFrom('name', 'run_type', 'thread_id', 'tags'), list(text.map(
    (each) => JSON.stringify(each),
  ))),
  joined(fc.constantFrom('has', 'eq', 'neq'), fixed('tags'),
    fc.constantFrom('"t1"', '"graph:step:1"')),
  joined(fixed('has'), fixed('metadata'),
    fc.constantFrom(`'{"k": "a"}'`, `'{"k":1,"env":true}'`, `'{"nest":{"a":[{"b":2}]}}'`)),
  joined(order, fixed('error'), fc.constantFrom('"Boom"', '"time out"')),
  joined(fixed('search'), fc.constantFrom('"HELLO"', '"äpfel"', '"world boom"', '"agent"')),
  joined(fixed('search'), fc.constantFrom('inputs', 'outputs', 'error', 'metadata'),
    fc.constantFrom('"hello"', '"x y"', '"a"')),
  pair('metadata', 'value'),
  pair('metadata', 'value', equality),
  pair('input', 'value'),
  pair('output', 'value'),
  pair('feedback', 'score'),
  pair('feedback', 'value', equality),
  joined(equality, fc.constantFrom('metadata_key', 'input_key', 'output_key', 'feedback_key'),
    key.map((each) => JSON.stringify(each))),
  joined(fixed('in'), fixed('metadata_key'), list(key.map((each) => JSON.stringify(each)))),
  joined(order, fc.constantFrom('metadata_value', 'input_value'), literal),
  joined(order, fixed('feedback_score'), fc.constantFrom('0', '0.5')),
)

/** Random filters as texts. */
export const filterText: fc.Arbitrary<string> = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf,
    joined(fixed('not'), tie('filter')),
    fc.tuple(fc.constantFrom('and', 'or'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
      .map(([name, parts]) => `${name}(${parts.join(',')})`)),
})).filter

const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

const asked = fc.record({
  filter: fc.option(filterText, { nil: undefined, freq: 8 }),
  traceFilter: rarely(filterText),
  treeFilter: rarely(filterText),
  rootsOnly: rarely(fc.constant(true)),
  isRoot: rarely(fc.constant(false)),
  failed: rarely(fc.boolean()),
  type: rarely(fc.constantFrom('llm', 'tool')),
  fromMs: rarely(fc.integer({ min: 0, max: 40 })),
  toMs: rarely(fc.integer({ min: 0, max: 60 })),
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  limit: fc.constantFrom(1000, 1000, 1000, 7, 40),
  projects: fc.constantFrom([0, 1], [0], [1]),
})

/** Which traces and filters. */
export interface AgreementSize {
  readonly traces: number
  readonly questions: number
  readonly seed: number
}

/** A store as its two threads have it. */
export interface WrittenSpans {
  readonly writer: SpanStore
  readonly reader: SpanStore
}

/** Fills a store with random spans, and asks it random questions. */
export async function filterAgreement({ writer, reader }: WrittenSpans, tenant: string,
  { traces, questions, seed }: AgreementSize): Promise<void> {
  const given = randomSpans(tenant, traces, seed)
  for (const request of given.requests) await writer.write(request)
  await writer.putFeedback(given.feedback)
  const all = await everySpan(reader, given)
  const parts = { store: reader, payloads: payloadsIn(reader),
    env: { nowMs: () => randomSpansBeganMs, monotonicMs: () => 0 } }
  for (const ask of fc.sample(asked, { numRuns: questions, seed })) {
    const question = questionOf(given, ask)
    const expected = plainly(all, question)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const { heads, next } = await findPage(parts, { ...question, ...cursor && { cursor } })
      found.push(...heads.map(({ id }) => id))
      cursor = next && writeCursor(next, question)
    } while (cursor !== undefined)
    expect(found, JSON.stringify(ask)).toEqual(expected)
  }
}

function questionOf({ tenant, projects }: RandomSpans,
  { fromMs, toMs, projects: numbers, ...ask }: typeof asked extends fc.Arbitrary<infer Ask> ? Ask
    : never): RunsQuestion {
  const us = (name: string, ms: number | undefined) =>
    ms === undefined ? {} : { [name]: (randomSpansBeganMs + ms) * 1000 }
  return { tenant, projects: numbers.map((each) => projects[each]!), version: 1,
    ...us('fromUs', fromMs), ...us('toUs', toMs), ...ask }
}

/** A span and all that is known of it. */
interface Seen {
  readonly head: SpanHead
  readonly content: Content
}

async function everySpan(store: SpanStore, { requests }: RandomSpans): Promise<readonly Seen[]> {
  const places = new Map(
    requests.flatMap(({ spans }) => spans.map(({ place }) => [place.id, place] as const)),
  )
  const heads = await store.heads([...places.values()])
  expect(heads.length).toBe(places.size)
  const seen: Seen[] = []
  for await (const [head, content] of payloadsIn(store).of(heads)) seen.push({ head, content })
  return seen
}

function plainly(all: readonly Seen[], question: RunsQuestion): readonly string[] {
  const projects = new Set(question.projects.map(({ id }) => id))
  const own = all.filter(({ head }) => projects.has(head.project))
  const meets = (filter: Filter, { head, content }: Seen) =>
    spanTest(filter)(head, content) === true
  const tracesWith = (filter: string | undefined, rootsOnly: boolean) =>
    filter === undefined
      ? undefined
      : new Set(own.filter((seen) =>
        (!rootsOnly || seen.head.root === true) && meets(readFilter(filter), seen)
      ).map(({ head }) => head.trace))
  const roots = tracesWith(question.traceFilter, true)
  const trees = tracesWith(question.treeFilter, false)
  return own.filter((seen) =>
    meets(conditionsOf(question), seen) && roots?.has(seen.head.trace) !== false &&
    trees?.has(seen.head.trace) !== false
  ).map(({ head }) => head).toSorted((a, b) => inOrder(question.order, a, b)).map(({ id }) => id)
}
