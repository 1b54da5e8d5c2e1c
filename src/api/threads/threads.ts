/** Threads: conversations that keep their state. */

import { Type } from 'typebox'

import { Command } from '../command.ts'
import { Json, JsonObject, Limit, Metadata, Nullable, Offset, OneOf, SomeOf, Text, Time,
  Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body, Value } from '../operation.ts'
import { runEvents } from './run-parts.ts'
import { conditions, Interrupt, ofThread, ThreadConditions, ThreadStatus } from './thread-parts.ts'

/** A hundred years: longer times would leave the range of dates. */
const minutesMax = 52_560_000

const Minutes = () => Type.Number({ exclusiveMinimum: 0, maximum: minutesMax })

/** Fates of a thread at the end of its time. */
const Strategy = (options = {}) => OneOf(['delete', 'keep_latest'], options)

const TimeToLive = () =>
  Type.Union([
    Minutes(),
    Type.Object({ ttl: Minutes(), strategy: Type.Optional(Nullable(Strategy())) }),
  ], { description: 'Minutes from now after which the thread is deleted, or with the strategy ' +
    '`keep_latest` keeps its newest state only.' })

/** Fields of a thread in answers, and what `select` may name. */
export const threadFields = ['thread_id', 'created_at', 'updated_at', 'state_updated_at',
  'metadata', 'status', 'config', 'values', 'interrupts', 'error'] as const

const Thread = Type.Object({
  thread_id: Uuid(),
  created_at: Time(),
  updated_at: Time(),
  state_updated_at: Time(),
  metadata: JsonObject(),
  status: ThreadStatus(),
  config: JsonObject(),
  values: Json({ description: 'The state; {} for an empty thread.' }),
  interrupts: Type.Record(Type.String(), Type.Array(Interrupt), {
    description: 'The questions by the id of the task that asks.',
  }),
  error: Json({ description: '{error, message} of the last run, or null.' }),
}, { $id: 'Thread', description: 'The thread with its newest state.' })

const WholeThread = Type.Object({
  ...Thread.properties,
  ttl: Type.Optional(Nullable(
    Type.Object({ strategy: Strategy(), ttl_minutes: Type.Number(), expires_at: Time() }, {
      description: 'When it ends, if `include` asks for it.',
    }),
  )),
  extracted: Type.Optional(JsonObject({ description: 'If the search asked to extract.' })),
})

const FoundThread = Type.Partial(WholeThread, { $id: 'FoundThread',
  description: 'All fields, or those that `select` names.' })

const PrunedThreads = Type.Object({
  pruned_count: Type.Optional(Type.Integer({ description: 'Threads that were pruned.' })),
  remaining: Type.Optional(Type.Integer({ description: 'Threads that match the filter and are ' +
    'left, without busy ones. Repeat the request as long as it prunes any.' })),
  count: Type.Optional(Type.Integer({ description: 'Threads that a dry run would prune.' })),
  dry_run: Type.Optional(Type.Literal(true)),
}, { $id: 'PrunedThreads', description: 'What became of the threads.' })

const size = { count: Type.Integer(), bytes: Type.Integer() }

const ThreadStorage = Type.Object({
  thread_id: Uuid(),
  total_bytes: Type.Integer({ description: 'Bytes of its log, with those shared with copies.' }),
  checkpoints: Type.Object(size),
  channel_values: Type.Object({ ...size,
    by_channel: Type.Record(Type.String(), Type.Object(size)) }),
  pending_writes: Type.Object(size),
}, { $id: 'ThreadStorage', description: 'What the thread takes in the store.' })

const ThreadPlace = Type.Object({
  member: Text(),
  address: Type.String({ description: 'Where other members reach it.' }),
  shard: Type.Integer(),
  epoch: Type.Integer({ description: 'Grows with each change of owner.' }),
  active: Type.Boolean({ description: 'Whether the thread is in memory.' }),
}, { $id: 'ThreadPlace', description: 'Where the thread lives.' })

const CountOfThreads = Type.Union([
  Type.Integer(),
  Type.Object({ idle: Type.Integer(), busy: Type.Integer(), interrupted: Type.Integer(),
    error: Type.Integer() }),
], { $id: 'CountOfThreads', description: 'How many there are; by status if that was asked for.' })

export const createThread = operation('POST', '/threads', {
  asks: 'threads:create',
  access: 'change',
  summary: 'Create a thread',
  // With `supersteps` it has a first state.
  body: Type.Object({
    thread_id: Type.Optional(Uuid()),
    metadata: Type.Optional(Metadata()),
    if_exists: Type.Optional(OneOf(['raise', 'do_nothing'], { default: 'raise' })),
    supersteps: Type.Optional(Nullable(Type.Array(Type.Object({
      updates: Type.Array(Type.Object({
        values: Type.Optional(Json()),
        command: Type.Optional(Nullable(Command())),
        as_node: Type.String(),
      }), { maxItems: 1_000 }),
    }), { maxItems: 1_000,
      description: 'Applied in order to make the first state. Need metadata.graph_id.' }))),
    ttl: Type.Optional(Nullable(TimeToLive())),
  }, { examples: [{ metadata: { user: 'ada' } }] }),
  answer: Thread,
})

export const getThread = operation('GET', '/threads/:thread_id', {
  asks: 'threads:read',
  ...ofThread,
  access: 'read',
  summary: 'Get a thread',
  query: Type.Object({
    include: Type.Optional(SomeOf(['ttl'])),
    select: Type.Optional(SomeOf(threadFields)),
  }),
  answer: FoundThread,
  whole: WholeThread,
})

export const updateThread = operation('PATCH', '/threads/:thread_id', {
  asks: 'threads:update',
  ...ofThread,
  access: 'change',
  summary: 'Update a thread',
  headers: Type.Object({
    prefer: Type.Optional(Type.String({ description: '`return=minimal` for no body.' })),
  }),
  body: Type.Object({
    metadata: Type.Optional(Metadata({ description: 'Merged shallowly.' })),
    ttl: Type.Optional(Nullable(TimeToLive())),
  }, { examples: [{ metadata: { user: 'ada' } }] }),
  answer: Thread,
  silent: { 204: 'Done, if `Prefer` asks for no body.' },
})

export const deleteThread = operation('DELETE', '/threads/:thread_id', {
  asks: 'threads:delete',
  ...ofThread,
  access: 'change',
  summary: 'Delete a thread with its runs and its history',
})

export const copyThread = operation('POST', '/threads/:thread_id/copy', {
  asks: ['threads:read', 'threads:create'],
  ...ofThread,
  access: 'change',
  summary: 'Copy a thread with its history, as it is or as it was at a checkpoint',
  body: Type.Object({
    checkpoint_id: Type.Optional(Nullable(Uuid())),
  }, { description: 'With a checkpoint, the copy is what the thread was there: later ones are ' +
    'left out, and what came next was not begun. By default, the copy has all of the thread.',
    examples: [{ checkpoint_id: '1ef4a9b8-d7da-679a-a45a-872054341df2' }] }),
  answer: Thread,
})

export const pruneThreads = operation('POST', '/threads/prune', {
  asks: 'threads:delete',
  access: 'change',
  summary: 'Delete threads, or drop their history; busy and unknown ones stay',
  body: Type.Object({
    thread_ids: Type.Optional(Nullable(Type.Array(Uuid(), { minItems: 1, maxItems: 1_000 }))),
    filter: Type.Optional(Nullable(ThreadConditions)),
    dry_run: Type.Optional(Nullable(Type.Boolean({ description: 'Only count what would go.' }))),
    strategy: Type.Optional(Nullable(
      Strategy({ default: 'delete',
        description: '`keep_latest` drops the history but for the newest state.' }),
    )),
  }, { examples: [{ thread_ids: ['9f1d3c2e-6b2a-4c57-8a0e-0d5b7f3e2a11'] }] }),
  answer: PrunedThreads,
})

export const getThreadStorage = operation('GET', '/threads/:thread_id/storage', {
  asks: 'threads:read',
  ...ofThread,
  access: 'read',
  summary: 'Get the number of bytes that a thread takes',
  answer: ThreadStorage,
})

export const getThreadPlace = operation('GET', '/threads/:thread_id/place', {
  asks: { nothing: 'Only operators may do this: it is refused to all others.' },
  ...ofThread,
  access: 'admin',
  summary: 'Get the member of the cluster on which a thread lives',
  answer: ThreadPlace,
})

const filter = {
  ...conditions,
  values: Type.Optional(Nullable(JsonObject({ description: 'What the state must contain.' }))),
}

/** Form of a path that a search extracts. `words` is the error for any other path. */
export const extractPath = {
  pattern: '^(values|metadata|config|interrupts)([.\\[].*)?$',
  words: 'must begin with values, metadata, config or interrupts, as values.messages[-1] does',
}

export const searchThreads = operation('POST', '/threads/search', {
  asks: 'threads:search',
  access: 'read',
  summary: 'Search threads',
  body: Type.Object({
    ...filter,
    ids: Type.Optional(Nullable(Type.Array(Uuid(), { maxItems: 10_000 }))),
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    cursor: Type.Optional(
      Nullable(
        Type.String({ maxLength: 500,
          description: 'The `X-Pagination-Cursor` of the page before, instead of an offset.' }),
      ),
    ),
    sort_by: Type.Optional(Nullable(
      OneOf(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at']),
    )),
    sort_order: Type.Optional(Nullable(OneOf(['asc', 'desc']))),
    select: Type.Optional(Nullable(SomeOf([...threadFields, 'context']))),
    extract: Type.Optional(Nullable(Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 10,
      additionalProperties: { type: 'string', maxLength: 500, pattern: extractPath.pattern },
      description: 'Alias to path, such as `values.messages[-1].content`. Answered as `extracted`.',
    }))),
  }, { examples: [{ limit: 10, sort_by: 'updated_at', sort_order: 'desc' }] }),
  answer: Type.Array(FoundThread),
  whole: Type.Array(WholeThread),
  returns: ['x-pagination-total', 'x-pagination-next', 'x-pagination-cursor'],
})

export const countThreads = operation('POST', '/threads/count', {
  asks: 'threads:search',
  access: 'read',
  summary: 'Count threads',
  body: Type.Object({
    ...filter,
    by: Type.Optional(Nullable(OneOf(['status'], {
      description: 'The answer is an object of status to count then. Not with `values`.',
    }))),
  }, { examples: [{ status: 'idle' }] }),
  answer: CountOfThreads,
})

const streamModes = () => Type.Optional(SomeOf(['run_modes', 'lifecycle', 'state_update']))

// The events of its runs, by default.
export const joinThreadStream = operation('GET', '/threads/:thread_id/stream', {
  asks: 'threads:read',
  ...ofThread,
  access: 'read',
  summary: 'Stream the events of all runs of a thread',
  query: Type.Object({ stream_mode: streamModes(), stream_modes: streamModes() }),
  headers: Type.Object({
    'last-event-id': Type.Optional(Type.String({
      description: 'The id of the last event seen, or `-` for all that is retained. If missing, '
        + 'only what comes from now on is sent.',
    })),
  }),
  events: runEvents,
  returns: ['location'],
})

/** A thread with its newest state. */
export type Thread = Value<typeof Thread>
/** A thread, or what `select` names of it. */
export type FoundThread = Value<typeof FoundThread>
/** A thread as a client makes it. */
export type CreateThread = Body<typeof createThread>
/** A change of a thread: members that are absent stay. */
export type PatchThread = Body<typeof updateThread>
/** Threads that are deleted, or lose their history. */
export type PruneThreads = Body<typeof pruneThreads>
/** Conditions on the threads that are counted. */
export type CountThreads = Body<typeof countThreads>
/** Conditions, order and page of a search for threads. */
export type SearchThreads = Body<typeof searchThreads>
/** A time to live, as a request has it. */
export type TimeToLive = Value<ReturnType<typeof TimeToLive>>
/** The place of a thread: its owner, its shard and epoch, and if it is in memory. */
export type ThreadPlace = Value<typeof ThreadPlace>
