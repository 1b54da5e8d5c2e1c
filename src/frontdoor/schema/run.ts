/** The schemas of requests about runs. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { multitaskStrategy, runContent, streamModes } from '../../api/index.ts'
import type { Value } from '../../api/index.ts'
import { Limit, Nullable, Offset, OneOf, SomeOf, Uuid } from './json.ts'
import type { ListSchema } from './list-checker.ts'
import { Checkpoint } from './state.ts'
import { ThreadConditions } from './thread.ts'

const aboutBody = {
  examples: [{ assistant_id: 'agent',
    input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] } }],
}

/** Body of requests that create a run on a thread the client names. */
export const CreateRun = Type.Object({
  ...runContent,
  multitask_strategy: multitaskStrategy,
  if_not_exists: Type.Optional(Nullable(OneOf(['reject', 'create'], { default: 'reject' }))),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
  checkpoint_id: Type.Optional(Nullable(Type.String())),
}, aboutBody)
/** A checked body of `CreateRun`. */
export type CreateRun = Value<typeof CreateRun>

/** Body of requests that create a run with a hidden thread of its own. */
export const CreateStatelessRun = Type.Object({
  ...runContent,
  on_completion: Type.Optional(Nullable(OneOf(['delete', 'keep', 'complete', 'continue'], {
    default: 'delete',
    description: 'Whether its hidden thread is deleted or kept; the other ' +
      'two words mean the default.',
  }))),
}, aboutBody)
/** A checked body of `CreateStatelessRun`. */
export type CreateStatelessRun = Value<typeof CreateStatelessRun>

/** A run of a batch: on the thread that it names, or else a stateless one. */
const BatchRun = Type.Object({
  ...CreateRun.properties,
  ...CreateStatelessRun.properties,
  thread_id: Type.Optional(Nullable(Uuid())),
}, { ...aboutBody, description: 'Fields may be spelled inCamelCase too.' })
/** A checked run of a batch. */
export type BatchRun = Value<typeof BatchRun>

/** Body of requests that create several runs. */
export const CreateRuns = Type.Array(BatchRun, { minItems: 1, maxItems: 1_000,
  examples: [[{ assistant_id: 'agent',
    input: { messages: [{ role: 'user', content: 'Hello' }] } }]] }) as ListSchema<
    typeof BatchRun
  >

/** Path of requests about one run on a named thread. */
export const RunPath = Type.Object({ thread_id: Uuid(), run_id: Uuid() })

/** Path of requests about one stateless run; its thread has the same id. */
export const StatelessRunPath = Type.Object({ run_id: Uuid() })

/** Fields of a run in answers, and what `select` may name. */
export const runFields = ['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at',
  'status', 'metadata', 'kwargs', 'multitask_strategy', 'cancel_reason', 'revision'] as const

/** Query of requests that list the runs of a thread, newest first. */
export const ListRuns = Type.Object({
  limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()),
  status: Type.Optional(
    OneOf(['pending', 'running', 'success', 'error', 'interrupted', 'timeout']),
  ),
  select: Type.Optional(SomeOf(runFields)),
})
/** A checked query of `ListRuns`. */
export type ListRuns = Static<typeof ListRuns>

const foundRunFields = [...runFields, 'graph_id'] as const

const Time = (which: string) =>
  Type.Optional(
    Nullable(
      Type.String({ maxLength: 64,
        description: `An ISO 8601 time. Only runs that were created ${which}.` }),
    ),
  )

/** Body of requests that search runs. */
export const SearchRuns = Type.Object({
  status: Type.Optional(Nullable(
    OneOf(['pending', 'running', 'success', 'error', 'interrupted', 'timeout']),
  )),
  graph_id: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
  assistant_id: Type.Optional(Nullable(Uuid())),
  thread_id: Type.Optional(Nullable(Uuid())),
  created_after: Time('later'),
  created_before: Time('earlier'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  cursor: Type.Optional(
    Nullable(
      Type.String({ maxLength: 500,
        description:
          'The `X-Pagination-Cursor` of the page before. A page may be short, or empty, ' +
          'while there is one.' }),
    ),
  ),
  select: Type.Optional(Nullable(SomeOf(foundRunFields))),
}, { examples: [{ status: 'error', limit: 20 }] })
/** A checked body of `SearchRuns`. */
export type SearchRuns = Static<typeof SearchRuns>

/** Query of requests that read what the code of a run wrote. */
export const ReadRunLogs = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  after: Type.Optional(
    Type.Integer({ minimum: 0,
      description: 'Only lines after this `seq`, from there on; by default the last ones.' }),
  ),
})
/** A checked query of `ReadRunLogs`. */
export type ReadRunLogs = Static<typeof ReadRunLogs>

const CancelAction = () => OneOf(['interrupt', 'rollback'], { default: 'interrupt' })

/** Query of requests that cancel a run. `wait` only changes the status of the answer. */
export const CancelRun = Type.Object({
  wait: Type.Optional(Type.Boolean({ default: false })),
  action: Type.Optional(CancelAction()),
  reason: Type.Optional(OneOf(['taken'], {
    description: 'Another run has taken in the input; only with the action `interrupt`.',
  })),
})
/** A checked query of `CancelRun`. */
export type CancelRun = Static<typeof CancelRun>

/** Query of requests that cancel several runs. */
export const CancelRunsQuery = Type.Object({ action: Type.Optional(CancelAction()) })

/** Body of requests that cancel several runs. */
export const CancelRuns = Type.Object({
  thread_id: Type.Optional(Nullable(Uuid())),
  run_ids: Type.Optional(Nullable(Type.Array(Uuid(), { minItems: 1, maxItems: 1_000 }))),
  status: Type.Optional(Nullable(OneOf(['pending', 'running', 'all'], {
    description: 'All runs with this status, instead of `thread_id` and `run_ids`.',
  }))),
  filter: Type.Optional(Nullable(ThreadConditions)),
  dry_run: Type.Optional(Nullable(
    Type.Boolean({ description: 'Only count what would be cancelled; with status or filter.' }),
  )),
}, { examples: [{ status: 'pending' }] })
/** A checked body of `CancelRuns`. */
export type CancelRuns = Static<typeof CancelRuns>

/** Headers of requests that join the stream of a run. */
export const JoinStreamHeaders = Type.Object({
  'last-event-id': Type.Optional(Type.String({
    description: 'The id of the last event seen; if missing, events are sent from the start.',
  })),
})

/** Query of requests that wait for the result of a run. */
export const JoinRun = Type.Object({ cancel_on_disconnect: Type.Optional(Type.Boolean()) })

/** Bounded, because each event is compared with each of them. */
const Namespaces = () =>
  Type.Array(Type.String({ maxLength: 2_048 }), { maxItems: 100, 'x-verbatim': true,
    description: 'Only events of these namespaces and of the subgraphs in them, without ' +
      'subagents. Segments are joined by `|`; the empty text is the root.' })

/** Query of requests that create a run and stream its events. */
export const StreamRun = Type.Object({ namespace: Type.Optional(Namespaces()) })
/** A checked query of `StreamRun`. */
export type StreamRun = Static<typeof StreamRun>

/** Query of requests that join the stream of a run; without `stream_mode`, all its events. */
export const JoinStream = Type.Object({
  cancel_on_disconnect: Type.Optional(Type.Boolean()),
  stream_mode: Type.Optional(SomeOf(streamModes)),
  namespace: Type.Optional(Namespaces()),
  checkpoint_id: Type.Optional(
    Type.String({ maxLength: 256,
      description: 'Only events after this checkpoint of the run, without a `last-event-id`.' }),
  ),
})
/** A checked query of `JoinStream`. */
export type JoinStream = Static<typeof JoinStream>
