/** Questions about spans: from the bodies of the two APIs to the one form that the platform has. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import type { Value } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { withoutUndefined } from '../../json/index.ts'
import { readTimeUs } from '../../platform/index.ts'
import type { Project, RunsQuestion } from '../../platform/index.ts'
import { Json, Nullable, Uuid } from '../schema/json.ts'

const text = () => Type.Optional(Nullable(Type.String({ maxLength: 8_192 })))
const flag = () => Type.Optional(Nullable(Type.Boolean()))
const ids = (maxItems: number) => Type.Optional(Nullable(Type.Array(Uuid(), { maxItems })))
const id = () => Type.Optional(Nullable(Uuid()))
const names = () => Type.Optional(Nullable(Type.Array(Type.String(), { maxItems: 200 })))

/** Body of questions of v1. */
export const QueryRuns = Type.Object({
  session: ids(100),
  id: ids(1_000),
  trace: id(),
  parent_run: id(),
  run_type: text(),
  reference_example: ids(1_000),
  execution_order: Type.Optional(Nullable(Type.Integer())),
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  error: flag(),
  query: text(),
  search_filter: text(),
  filter: text(),
  trace_filter: text(),
  tree_filter: text(),
  is_root: flag(),
  cursor: text(),
  limit: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
  select: names(),
  order: Type.Optional(Nullable(Type.String())),
})

/** Body of questions of v2. */
export const QueryRunsV2 = Type.Object({
  project_ids: ids(100),
  project_id: id(),
  session_id: id(),
  reference_dataset_id: id(),
  ids: ids(1_000),
  trace_id: id(),
  run_type: text(),
  is_root: flag(),
  has_error: flag(),
  min_start_time: Type.Optional(Json()),
  max_start_time: Type.Optional(Json()),
  filter: text(),
  thread_filter: text(),
  trace_filter: text(),
  tree_filter: text(),
  reference_examples: ids(1_000),
  selects: names(),
  include_subtree_usage: flag(),
  cursor: text(),
  page_size: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000 }))),
  sort_order: text(),
})

const pageMax = 100

/** A question of v1 about these projects. */
export function questionOfV1(tenant: string, projects: readonly Project[],
  body: Value<typeof QueryRuns>): RunsQuestion {
  const limit = body.limit ?? pageMax
  if (limit > pageMax) {
    throw new HeddleError('malformed', `Limit exceeds maximum allowed value of ${pageMax}`)
  }
  return withoutUndefined({
    tenant,
    projects,
    version: 1,
    limit,
    order: body.order === 'asc' ? 'oldest' : 'newest',
    ids: body.id ?? undefined,
    trace: body.trace ?? undefined,
    parent: body.parent_run ?? undefined,
    type: body.run_type?.toLowerCase(),
    fromUs: timeOf('start_time', body.start_time),
    endToUs: timeOf('end_time', body.end_time),
    failed: body.error ?? undefined,
    rootsOnly: body.is_root === true || body.execution_order === 1 || undefined,
    isRoot: body.is_root ?? undefined,
    examples: body.reference_example ?? undefined,
    text: body.query ?? body.search_filter ?? undefined,
    filter: body.filter ?? undefined,
    traceFilter: body.trace_filter ?? undefined,
    treeFilter: body.tree_filter ?? undefined,
    cursor: body.cursor ?? undefined,
    select: body.select ?? undefined,
  })
}

const dayUs = 24 * 3_600 * 1_000_000

/** A question of v2. Without a time it is about the last day, as that API has it. */
export function questionOfV2(tenant: string, projects: readonly Project[],
  body: Static<typeof QueryRunsV2>, nowUs: number): RunsQuestion {
  const named = body.ids?.length || body.trace_id
  return withoutUndefined({
    tenant,
    projects,
    version: 2,
    limit: body.page_size ?? pageMax,
    order: body.sort_order?.toLowerCase() === 'asc' ? 'oldest' : 'newest',
    ids: body.ids ?? undefined,
    trace: body.trace_id ?? undefined,
    type: body.run_type?.toLowerCase(),
    fromUs: timeOf('min_start_time', body.min_start_time) ?? (named ? undefined : nowUs - dayUs),
    toUs: timeOf('max_start_time', body.max_start_time),
    failed: body.has_error ?? undefined,
    rootsOnly: body.is_root === true || undefined,
    isRoot: body.is_root ?? undefined,
    examples: body.reference_examples ?? undefined,
    filter: body.filter ?? undefined,
    traceFilter: body.trace_filter ?? undefined,
    treeFilter: body.tree_filter ?? undefined,
    cursor: body.cursor ?? undefined,
    select: body.selects ?? [],
    subtreeUsage: body.include_subtree_usage ?? undefined,
  })
}

/** The time in microseconds. Throws `invalid` if there is one that cannot be read. */
function timeOf(field: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const us = readTimeUs(value)
  if (us === undefined) throw new HeddleError('invalid', `${field} is no time.`)
  return us
}
