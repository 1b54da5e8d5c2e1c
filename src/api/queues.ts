/** Annotation queues: runs and conversations that people are asked to look at. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, OneOf, Text, Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

// Clients keep more with it, so it is not checked.
const RubricItem = Type.Unsafe<{ feedback_key: string; description?: string | null }>(
  JsonObject({ 'x-max-characters': 16 * 1024, description: 'A key that reviewers score.' }),
)

const QueueFields = Type.Object({
  description: Nullable(Text(10_000)),
  // Examples that are made while reviewing go there.
  default_dataset: Nullable(Uuid()),
  num_reviewers_per_item: Nullable(Type.Integer({ minimum: 1, maximum: 100 })),
  enable_reservations: Nullable(Type.Boolean()),
  // The time for which an item that one reviewer looks at is kept from the others.
  reservation_minutes: Nullable(Type.Integer({ minimum: 1, maximum: 10_080 })),
  reviewer_access_mode: Nullable(Text(20)),
  rubric_instructions: Nullable(Text(20_000)),
  rubric_items: Nullable(Type.Array(RubricItem, { maxItems: 100 })),
  metadata: Nullable(JsonObject({ 'x-max-characters': 48 * 1024 })),
})
const Fields = Type.Partial(QueueFields)
const Name = () => Type.String({ minLength: 1, maxLength: 1_000 })

const Queue = Type.Object({
  id: Uuid(),
  name: Text(),
  ...QueueFields.properties,
  tenant_id: Uuid(),
  queue_type: OneOf(['single']),
  total_runs: Type.Integer(),
  assigned_reviewers: Type.Array(Json()),
  run_rule_id: Type.Null(),
  source_rule_id: Type.Null(),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Queue', description: 'An annotation queue.' })

const ItemType = () => OneOf(['RUN', 'THREAD'])
const sections = ['needs_my_review', 'needs_others_review', 'archived'] as const

const AddedItem = Type.Object({
  id: Uuid(),
  queue_id: Uuid(),
  item_type: ItemType(),
  project_id: Uuid(),
  run_id: Type.Optional(Uuid()),
  thread_id: Type.Optional(Text()),
  start_time: Nullable(Time()),
  source_proposed_example_id: Nullable(Uuid()),
  added_at: Time(),
  last_reviewed_time: Nullable(Time()),
}, { $id: 'AddedQueueItem', description: 'An item as it was added.' })

const Item = Type.Object({
  ...AddedItem.properties,
  completed_by: Type.Array(Uuid()),
  reserved_by: Type.Array(Uuid()),
  effective_added_at: Time(),
}, { $id: 'QueueItem', description: 'An item as the caller sees it.' })

const Run = JsonObject({ description: 'A run, with its place in the queue.' })
const Message = Type.Object({ message: Text() })
const Size = Type.Object({ size: Type.Integer() })
const Moved = Type.Object({ added_at: Type.Optional(Json()),
  last_reviewed_time: Type.Optional(Json()) })
const time = () => Type.Optional(Text(40))
const starts = { min_start_time: time(), max_start_time: time() }
const status = () =>
  Type.Optional(OneOf(['needs_my_review', 'needs_others_review', 'completed', 'archived']))
const pageSize = () => Type.Optional(Type.Integer({ minimum: 1, maximum: 100 }))

export const createQueue = operation('POST', '/api/v1/annotation-queues', {
  access: 'change',
  summary: 'Create an annotation queue',
  body: Type.Object({ name: Name(), id: Maybe(Uuid()), created_at: Type.Optional(Json()),
    ...Fields.properties }),
  // Without instructions it has none here, and null in what is read: clients tell them apart.
  answer: Type.Object({ ...Queue.properties, rubric_instructions: Type.Optional(Text()) }),
})

export const listQueues = operation('GET', '/api/v1/annotation-queues', {
  access: 'read',
  summary: 'List annotation queues',
  query: Type.Object({
    ids: Type.Optional(Type.Array(Uuid(), { maxItems: 200 })),
    name: Type.Optional(Text(1_000)),
    name_contains: Type.Optional(Text(1_000)),
    dataset_id: Type.Optional(Uuid()),
    sort_by: Type.Optional(Text(100)),
    sort_by_desc: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(Queue),
})

export const getQueue = operation('GET', '/api/v1/annotation-queues/:id', {
  access: 'read',
  summary: 'Get an annotation queue',
  answer: Queue,
})

export const patchQueue = operation('PATCH', '/api/v1/annotation-queues/:id', {
  access: 'change',
  summary: 'Change an annotation queue: a member that is missing stays',
  body: Type.Object({ name: Maybe(Name()), ...Fields.properties }),
  answer: Queue,
})

export const deleteQueue = operation('DELETE', '/api/v1/annotation-queues/:id', {
  access: 'change',
  summary: 'Delete an annotation queue with its items; the runs stay',
  answer: Message,
})

export const listQueuesOfRun = operation('GET', '/api/v1/annotation-queues/:id/queues', {
  access: 'read',
  summary: 'List the annotation queues that a run is in',
  answer: Type.Array(Queue),
})

export const addQueueItems = operation('POST', '/api/v1/platform/annotation-queues/:queue/items', {
  access: 'change',
  summary: 'Add runs and threads to an annotation queue',
  body: Type.Object({
    items: Type.Array(
      Type.Object({
        item_type: Maybe(ItemType()),
        run_id: Maybe(Uuid()),
        project_id: Maybe(Uuid()),
        session_id: Maybe(Uuid()),
        thread_id: Maybe(Text(1_000)),
        start_time: Type.Optional(Json()),
        source_proposed_example_id: Maybe(Uuid()),
      }),
      { maxItems: 1_000 },
    ),
  }),
  answer: Type.Object({ items: Type.Array(AddedItem) }),
})

export const listQueueItems = operation('GET', '/api/v1/platform/annotation-queues/:queue/items', {
  access: 'read',
  summary: 'List the items of an annotation queue',
  query: Type.Object({
    status: Type.Optional(OneOf([...sections])),
    item_type: Type.Optional(ItemType()),
    direction: Type.Optional(OneOf(['forward', 'backward'])),
    cursor: Type.Optional(Text(40)),
    page_size: pageSize(),
    limit: pageSize(),
    ...starts,
  }),
  answer: Type.Object({ items: Type.Array(Item), next_cursor: Nullable(Text()),
    prev_cursor: Nullable(Text()) }),
})

export const countQueueItems = operation('GET',
  '/api/v1/platform/annotation-queues/:queue/items/count', {
  access: 'read',
  summary: 'Count the items of an annotation queue',
  query: Type.Object({ status: Type.Optional(OneOf(['all', ...sections])), start_time: time(),
    end_time: time(), ...starts }),
  answer: Type.Object({ count: Type.Integer() }),
})

export const placeQueueItem = operation('GET',
  '/api/v1/platform/annotation-queues/:queue/items/:item/placement', {
  access: 'read',
  summary: 'Find the place of an item in its list',
  answer: Type.Object({ item_type: ItemType(), section: OneOf([...sections]),
    position: Type.Integer(), cursor: Text() }),
})

export const patchQueueItem = operation('PATCH',
  '/api/v1/platform/annotation-queues/:queue/items/:item', {
  access: 'change',
  summary: 'Change the times of an item',
  body: Moved,
  answer: Item,
})

export const deleteQueueItems = operation('POST',
  '/api/v1/platform/annotation-queues/:queue/items/delete', {
  access: 'change',
  summary: 'Take items out of an annotation queue',
  body: Type.Object({ item_ids: Type.Array(Uuid(), { maxItems: 10_000 }) }),
  answer: Message,
})

const statusTerms = {
  access: 'change',
  summary: 'Say that an item is looked at, or done, or take that back',
  body: Type.Object({
    status: Maybe(OneOf(['viewed', 'completed'])),
    override_added_at: Type.Optional(Json()),
  }),
  answer: Type.Object({
    queue_item_id: Uuid(),
    status: Nullable(OneOf(['viewed', 'completed'])),
    is_archived: Type.Boolean(),
    override_added_at: Type.Optional(Time()),
  }),
} as const

export const setItemStatus = operation('POST',
  '/api/v1/platform/annotation-queues/items/:item/status', statusTerms)

export const setRunStatus = operation('POST', '/api/v1/annotation-queues/status/:item', statusTerms)

const addTerms = {
  access: 'change',
  summary: 'Add runs to an annotation queue',
  body: Type.Array(Type.Union([Uuid(), Type.Object({ run_id: Uuid() })]), { maxItems: 1_000 }),
  raw: true,
  answer: Type.Array(AddedItem),
} as const

export const addQueueRuns = operation('POST', '/api/v1/annotation-queues/:queue/runs', addTerms)

export const addQueueRunsByKey = operation('POST', '/api/v1/annotation-queues/:queue/runs/by-key',
  addTerms)

export const listQueueRuns = operation('GET', '/api/v1/annotation-queues/:queue/runs', {
  access: 'read',
  summary: 'List the runs in an annotation queue',
  query: Type.Object({
    status: status(),
    archived: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(Run),
})

export const getQueueRun = operation('GET', '/api/v1/annotation-queues/:queue/run/:index', {
  access: 'read',
  summary: 'Get the run at a place among those that the caller is to review',
  answer: Run,
})

export const countQueueRuns = operation('GET', '/api/v1/annotation-queues/:queue/size', {
  access: 'read',
  summary: 'Count the runs that the caller is to review',
  query: Type.Object({ status: status() }),
  answer: Size,
})

export const countAllQueueRuns = operation('GET', '/api/v1/annotation-queues/:queue/total_size', {
  access: 'read',
  summary: 'Count the runs in an annotation queue',
  answer: Size,
})

export const countArchivedRuns = operation('GET', '/api/v1/annotation-queues/:queue/total_archived',
  {
    access: 'read',
    summary: 'Count the runs that were reviewed',
    query: Type.Object({ start_time: time(), end_time: time() }),
    answer: Size,
  })

export const patchQueueRun = operation('PATCH', '/api/v1/annotation-queues/:queue/runs/:run', {
  access: 'change',
  summary: 'Change the times of a run in an annotation queue',
  body: Moved,
  answer: Message,
})

export const deleteQueueRun = operation('DELETE', '/api/v1/annotation-queues/:queue/runs/:run', {
  access: 'change',
  summary: 'Take a run out of an annotation queue',
  answer: Message,
})

export const deleteQueueRuns = operation('POST', '/api/v1/annotation-queues/:queue/runs/delete', {
  access: 'change',
  summary: 'Take runs out of an annotation queue',
  body: Type.Object({
    delete_all: Maybe(Type.Boolean()),
    run_ids: Maybe(Type.Array(Uuid(), { maxItems: 10_000 })),
    exclude_run_ids: Maybe(Type.Array(Uuid(), { maxItems: 10_000 })),
  }),
  answer: Message,
})

export const populateQueue = operation('POST', '/api/v1/annotation-queues/populate', {
  access: 'change',
  summary: 'Add the traces of projects to an annotation queue',
  body: Type.Object({ queue_id: Uuid(),
    session_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 20 }) }),
  answer: Message,
})

/** A key that reviewers score. */
export type RubricItem = Value<typeof RubricItem>
/** An annotation queue as a client writes it. */
export type QueueBody = Value<typeof Fields>
/** An annotation queue as a client reads it. */
export type Queue = Value<typeof Queue>
/** An item as it was added. */
export type AddedQueueItem = Value<typeof AddedItem>
/** An item as the caller sees it. */
export type QueueItem = Value<typeof Item>
