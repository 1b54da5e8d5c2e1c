/** The schemas of requests about threads. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Command } from '../../api/index.ts'
import { expiryStrategies, threadStatuses } from '../../search/index.ts'
import { Json, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf,
  Uuid } from './json.ts'

/** Path of requests about one thread. */
export const ThreadPath = Type.Object({ thread_id: Uuid() })

/** A hundred years: longer times would leave the range of dates. */
const minutesMax = 52_560_000

const Minutes = () => Type.Number({ exclusiveMinimum: 0, maximum: minutesMax })

const TimeToLive = () =>
  Type.Union([
    Minutes(),
    Type.Object({ ttl: Minutes(), strategy: Type.Optional(Nullable(OneOf(expiryStrategies))) }),
  ], { description: 'Minutes from now after which the thread is deleted, or with the strategy ' +
    '`keep_latest` keeps its newest state only.' })
/** A checked time to live. */
export type TimeToLive = Static<ReturnType<typeof TimeToLive>>

const threadStreamModes = ['run_modes', 'lifecycle', 'state_update'] as const

/** Query of requests that stream a thread: the events of its runs by default. */
export const JoinThread = Type.Object({
  stream_mode: Type.Optional(SomeOf(threadStreamModes)),
  stream_modes: Type.Optional(SomeOf(threadStreamModes)),
})

/** Headers of requests that stream a thread. */
export const JoinThreadHeaders = Type.Object({
  'last-event-id': Type.Optional(Type.String({
    description: 'The id of the last event seen, or `-` for all that is retained. If missing, '
      + 'only what comes from now on is sent.',
  })),
})

/** Body of requests that create a thread, with a first state if `supersteps` are given. */
export const CreateThread = Type.Object({
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
}, { examples: [{ metadata: { user: 'ada' } }] })
/** A checked body of `CreateThread`. */
export type CreateThread = Static<typeof CreateThread>

/** Body of requests that change the metadata of a thread, or its time to live. */
export const PatchThread = Type.Object({
  metadata: Type.Optional(Metadata({ description: 'Merged shallowly.' })),
  ttl: Type.Optional(Nullable(TimeToLive())),
}, { examples: [{ metadata: { user: 'ada' } }] })
/** A checked body of `PatchThread`. */
export type PatchThread = Static<typeof PatchThread>

const Time = (which: string) =>
  Type.String({ maxLength: 64,
    description: `An ISO 8601 time. Only threads that were updated ${which}.` })

const conditions = {
  metadata: Type.Optional(Nullable(MetadataFilter())),
  status: Type.Optional(Nullable(OneOf(threadStatuses))),
  q: Type.Optional(
    Nullable(
      Type.String({ maxLength: 200,
        description: 'Words that must all occur, in any case: as beginnings of words in ' +
          '`metadata.title`, `metadata.thread_name` or `metadata.name`, or in the first human ' +
          'message of the thread, or as a beginning of its id of 4 characters or more.' }),
    ),
  ),
  updated_after: Type.Optional(Nullable(Time('later'))),
  updated_before: Type.Optional(Nullable(Time('earlier'))),
}

/** Conditions for the threads of a request that changes many. */
export const ThreadConditions = Type.Object(conditions, {
  // A misspelt condition must not widen what is deleted.
  additionalProperties: false,
  description: 'Threads that match all of these conditions, of which one at least is needed.',
})
/** Conditions that the schema of the same name has checked. */
export type ThreadConditions = Static<typeof ThreadConditions>

/** Body of requests that delete threads or drop their history. */
export const PruneThreads = Type.Object({
  thread_ids: Type.Optional(Nullable(Type.Array(Uuid(), { minItems: 1, maxItems: 1_000 }))),
  filter: Type.Optional(Nullable(ThreadConditions)),
  dry_run: Type.Optional(Nullable(Type.Boolean({ description: 'Only count what would go.' }))),
  strategy: Type.Optional(Nullable(
    OneOf(expiryStrategies, { default: 'delete',
      description: '`keep_latest` drops the history but for the newest state.' }),
  )),
}, { examples: [{ thread_ids: ['9f1d3c2e-6b2a-4c57-8a0e-0d5b7f3e2a11'] }] })
/** A checked body of `PruneThreads`. */
export type PruneThreads = Static<typeof PruneThreads>

/** Headers of requests that change a thread. */
export const PatchThreadHeaders = Type.Object({
  prefer: Type.Optional(Type.String({ description: '`return=minimal` for no body.' })),
})

const filter = {
  ...conditions,
  values: Type.Optional(Nullable(JsonObject({ description: 'What the state must contain.' }))),
}

/** Body of requests that count threads. */
export const CountThreads = Type.Object({
  ...filter,
  by: Type.Optional(Nullable(OneOf(['status'], {
    description: 'The answer is an object of status to count then. Not with `values`.',
  }))),
}, { examples: [{ status: 'idle' }] })
/** A checked body of `CountThreads`. */
export type CountThreads = Static<typeof CountThreads>

/** Fields of a thread in answers, and what `select` may name. */
export const threadFields = ['thread_id', 'created_at', 'updated_at', 'state_updated_at',
  'metadata', 'status', 'config', 'values', 'interrupts', 'error'] as const

/** Query of requests that read one thread: `ttl` is only shown if it is asked for. */
export const ReadThread = Type.Object({
  include: Type.Optional(SomeOf(['ttl'])),
  select: Type.Optional(SomeOf([...threadFields])),
})

/** Body of requests that copy a thread. */
export const CopyThread = Type.Object({
  checkpoint_id: Type.Optional(Nullable(Uuid())),
}, { description: 'With a checkpoint, the copy is what the thread was there: later ones are left ' +
  'out, and what came next was not begun. By default, the copy has all of the thread.',
  examples: [{ checkpoint_id: '1ef4a9b8-d7da-679a-a45a-872054341df2' }] })

/** Form of a path that a search extracts. `words` is the error for any other path. */
export const extractPath = {
  pattern: '^(values|metadata|config|interrupts)([.\\[].*)?$',
  words: 'must begin with values, metadata, config or interrupts, as values.messages[-1] does',
}

/** Body of requests that search threads. */
export const SearchThreads = Type.Object({
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
    additionalProperties: {
      type: 'string',
      maxLength: 500,
      pattern: extractPath.pattern,
    },
    description: 'Alias to path, such as `values.messages[-1].content`. Answered as `extracted`.',
  }))),
}, { examples: [{ limit: 10, sort_by: 'updated_at', sort_order: 'desc' }] })
/** A checked body of `SearchThreads`. */
export type SearchThreads = Static<typeof SearchThreads>
