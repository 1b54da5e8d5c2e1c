/** Parts of requests and answers about threads that operations of several files have. */

import { Type } from 'typebox'

import { Json, MetadataFilter, Nullable, OneOf, Text, Uuid } from '../json.ts'
import type { Value } from '../operation.ts'

/** Members of operations on one thread. */
export const ofThread = { params: Type.Object({ thread_id: Uuid() }) }

/** All statuses of a thread. `busy`: a run is pending or running. */
export const threadStatuses = ['idle', 'busy', 'interrupted', 'error'] as const

/** Schema of the status of a thread. */
export const ThreadStatus = () => OneOf(threadStatuses)

const Time = (which: string) =>
  Type.String({ maxLength: 64,
    description: `An ISO 8601 time. Only threads that were updated ${which}.` })

/** Conditions that a thread meets, in requests about many threads. */
export const conditions = {
  metadata: Type.Optional(Nullable(MetadataFilter())),
  status: Type.Optional(Nullable(ThreadStatus())),
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
/** Conditions for the threads of a request that changes many. */
export type ThreadConditions = Value<typeof ThreadConditions>

/** Schema of a question of a graph, in an answer. */
export const Interrupt = Type.Object({
  id: Text(),
  value: Type.Optional(Json({ description: 'Missing if the graph asked without one.' })),
  response_schema: Type.Optional(Json({ description: 'JSON Schema of the answer.' })),
})
/** A question of a graph. */
export type Interrupt = Value<typeof Interrupt>

/** Schema of a reference to a checkpoint of a thread. */
export const Checkpoint = () =>
  Type.Object({
    checkpoint_id: Type.Optional(Nullable(Type.String())),
    checkpoint_ns: Type.Optional(Nullable(Type.String())),
    checkpoint_map: Type.Optional(Nullable(
      Type.Unsafe<Record<string, string>>({ type: 'object',
        additionalProperties: { type: 'string' } }),
    )),
  }, { description: "A checkpoint in the thread's history; without an id, the newest." })
/** A reference to a checkpoint. Without an id it means the newest one. */
export type Checkpoint = Value<ReturnType<typeof Checkpoint>>
