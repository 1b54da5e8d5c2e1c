/** Questions about spans: from the bodies of the two APIs to the one form that the platform has. */

import type { RunsQuery, RunsQueryV2 } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { withoutUndefined } from '../../json/index.ts'
import { readTimeUs } from '../../platform/index.ts'
import type { Project, RunsQuestion } from '../../platform/index.ts'

const pageMax = 100

/** A question of v1 about these projects. */
export function questionOfV1(tenant: string, projects: readonly Project[],
  body: RunsQuery): RunsQuestion {
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
export function questionOfV2(tenant: string, projects: readonly Project[], body: RunsQueryV2,
  nowUs: number): RunsQuestion {
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
