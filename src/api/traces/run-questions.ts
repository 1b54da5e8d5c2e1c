/** Questions about runs of traces, as both APIs ask them. */

import { Type } from 'typebox'

import { Json, Maybe, Text, Uuid } from '../json.ts'
import type { Value } from '../operation.ts'

const text = () => Maybe(Text(8_192))
const flag = () => Maybe(Type.Boolean())
const ids = (maxItems: number) => Maybe(Type.Array(Uuid(), { maxItems }))
const id = () => Maybe(Uuid())
const names = () => Maybe(Type.Array(Text(), { maxItems: 200 }))

/** Schema of questions of the first API. */
export const RunsQuery = Type.Object({
  session: ids(100),
  id: ids(1_000),
  trace: id(),
  parent_run: id(),
  run_type: text(),
  reference_example: ids(1_000),
  execution_order: Maybe(Type.Integer()),
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
  limit: Maybe(Type.Integer({ minimum: 1 })),
  select: names(),
  order: Maybe(Text()),
})

/** Schema of questions of the second API. */
export const RunsQueryV2 = Type.Object({
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
  page_size: Maybe(Type.Integer({ minimum: 1, maximum: 1_000 })),
  sort_order: text(),
})

/** A question of the first API. */
export type RunsQuery = Value<typeof RunsQuery>
/** A question of the second API. */
export type RunsQueryV2 = Value<typeof RunsQueryV2>
