/** What ingest puts into the index is what a plan looks up there. */

import { expect, it } from 'vitest'

import { termsOfSpan } from '../../../../src/platform/ingest/terms-of-span.ts'
import { planOf } from '../../../../src/platform/query/plan.ts'
import { readFilter } from '../../../../src/platform/query/filter/read-filter.ts'

const entry = (key: string) => `and(eq(metadata_key, "${key}"), eq(metadata_value, "7"))`

it.each([
  ['eq(name, "Agent")', true],
  ['eq(thread_id, "t")', true],
  ['eq(status, "error")', true],
  ['has(tags, "blue")', true],
  ['has(tags, "seq:step:1")', false],
  ['eq(metadata_key, "user")', true],
  [entry('user'), true],
  [entry('langgraph_step'), false],
  [entry('OTEL_SPAN_ID'), false],
])('%s is looked up: %j', (filter, isLookedUp) => {
  const { terms, indexed } = termsOfSpan({ name: 'Agent', failed: true, thread: 't', example: null,
    tags: ['seq:step:1', 'blue'],
    metadata: new Map([['langgraph_step', '7'], ['OTEL_SPAN_ID', '7'], ['user', '7'], ['nested',
      null]]) })
  expect(terms).toHaveLength(12)
  const plan = planOf(readFilter(filter), { tenant: 'acme', projects: [], order: 'newest' }, 0)
  expect(plan.terms).toHaveLength(isLookedUp ? 1 : 0)
  for (const term of plan.terms) expect(terms.slice(0, indexed)).toContain(term)
})
