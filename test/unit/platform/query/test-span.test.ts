/** What filters mean. */

import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { SpanHead } from '../../../../src/platform/index.ts'
import { contentOf } from '../../../../src/platform/query/payload/content.ts'
import { readFilter } from '../../../../src/platform/query/filter/read-filter.ts'
import { spanTest } from '../../../../src/platform/query/filter/test-span.ts'
import { termOf } from '../../../../src/platform/spans/term.ts'

const id = '0193a6b0-0000-7000-8000-000000000001'
const startUs = Date.UTC(2026, 0, 31, 12) * 1000

const head: SpanHead = {
  ...noFields,
  tenant: 'acme',
  project: id,
  startUs,
  arrivedUs: startUs,
  id,
  trace: id,
  traceStartUs: startUs,
  root: true,
  name: 'agent',
  type: 'llm',
  endUs: startUs + 1_500_000,
  failed: true,
  totalTokens: 12,
  thread: 't-1',
  terms: [termOf.tag('beta'), termOf.metadataKey('user'), termOf.metadata('user', '7'),
    termOf.metadataKey('env'), termOf.metadata('env', 'prod')],
  blocks: [],
  feedback: [{ id, key: 'good', score: 1, value: null }, { id, key: 'kind', score: null,
    value: 'yes' }],
}
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const content = contentOf({
  inputs: json({ question: 'Where is Köln?', deep: [{ place: { name: 'Rhine' } }] }),
  outputs: json({ answer: 'North', n: 3 }),
  error: json('Time out'),
  extra: json({ metadata: { user: 7, env: 'prod', nest: { list: [1, { a: 2 }] } } }),
  tags: json(['beta']),
})

it.each([
  ['eq(name, "agent")', true],
  ["eq(run_type, 'LLM')", true],
  ['eq(status, "error")', true],
  ['neq(error, null)', true],
  ['eq(error, "Time out")', true],
  ['search(error, "TIME")', true],
  [`eq(id, "${id.replaceAll('-', '').toUpperCase()}")`, true],
  ['eq(is_root, true)', true],
  ['neq(is_root, True)', false],
  ['eq(execution_order, 1)', true],
  ['gt(latency, 1.4)', true],
  ['gt(latency, "1400ms")', true],
  ['gte(latency, 1.5)', true],
  ['gt(latency, "2s")', false],
  ['gt(start_time, "2026-01-31T11:59:59")', true],
  ['lt(start_time, "2026-01-31T12:00:00+00:00")', false],
  [`eq(start_time, ${startUs / 1000})`, true],
  ['lte(end_time, "2026-01-31T12:00:01.500000Z")', true],
  ['gt(total_tokens, 11)', true],
  ['and(gt(total_tokens, 11), lt(total_tokens, 13))', true],
  // Of what is absent only neq is true.
  ['gt(prompt_tokens, 0)', false],
  ['lt(prompt_tokens, 0)', false],
  ['neq(prompt_tokens, 0)', true],
  ['eq(prompt_tokens, null)', true],
  ['neq(reference_example_id, null)', false],
  ['in(name, ["x", "agent"])', true],
  ['in(name, [])', false],
  ['has(tags, "beta")', true],
  ['in(tags, ["alpha", "beta"])', true],
  ['neq(tags, "beta")', false],
  ['eq(metadata_key, "user")', true],
  ['in(metadata_key, ["session_id", "user"])', true],
  ['neq(metadata_key, "user")', false],
  ['and(eq(metadata_key, "user"), eq(metadata_value, 7))', true],
  ['and(eq(metadata_key, "user"), eq(metadata_value, "7"))', true],
  ['and(eq(metadata_key, "user"), eq(metadata_value, "prod"))', false],
  ['and(eq(metadata_key, "user"), neq(metadata_value, "prod"))', true],
  ['and(eq(metadata_key, "user"), gt(metadata_value, 6), lt(metadata_value, 8))', true],
  ['and(eq(metadata_key,"user"), eq(metadata_value,7), eq(metadata_key,"env"), ' +
    'eq(metadata_value,"prod"))', true],
  ['and(eq(metadata_key,"user"), eq(metadata_key,"env"), eq(metadata_value,7), ' +
    'eq(metadata_value,"prod"))', true],
  ['and(in(metadata_key, ["env", "user"]), in(metadata_value, ["x", "7"]))', true],
  ['eq(metadata_value, "prod")', true],
  ['neq(metadata_value, "prod")', false],
  [`has(metadata, '{"user": 7, "env": "prod"}')`, true],
  [`has(metadata, '{"nest": {"list": [{"a": 2}]}}')`, true],
  [`has(metadata, '{"nest": {"list": [3]}}')`, false],
  ['and(eq(input_key, "deep.place.name"), eq(input_value, "Rhine"))', true],
  ['eq(output_key, "answer")', true],
  ['and(eq(output_key, "n"), gte(output_value, 3))', true],
  ['and(eq(feedback_key, "good"), gt(feedback_score, 0.5))', true],
  ['and(eq(feedback_key, "kind"), gt(feedback_score, 0.5))', false],
  ['and(eq(feedback_key, "kind"), eq(feedback_value, "yes"))', true],
  ['and(eq(feedback_key, "kind"), eq(feedback_score, null))', true],
  ['search("köln north")', true],
  ['search("agent rhine prod beta")', true],
  ['search("question")', false],
  ['search("öln")', false],
  ['search(inputs, "north")', false],
  ['or(eq(name, "x"), not(eq(name, "y")))', true],
  ['and()', true],
  ['or()', false],
])('%s is %s', (filter, expected) => {
  expect(spanTest(readFilter(filter))(head, content)).toBe(expected)
})

it.each([
  'and(eq(metadata_key, "user"), eq(metadata_value, 7))',
  'has(tags, "beta")',
  `has(metadata, '{"user": 7}')`,
  'neq(error, null)',
  'and(eq(name, "other"), search("köln"))',
  'or(eq(name, "agent"), search("köln"))',
])('%s is decided without the payload.', (filter) => {
  expect(spanTest(readFilter(filter))(head)).toBeTypeOf('boolean')
})
