/** Parts of requests and answers about runs that operations of several files have. */

import { Type } from 'typebox'

import { JsonObject, Json, Nullable, OneOf, SomeOf, Time, Uuid } from '../json.ts'
import type { Value } from '../operation.ts'
import { multitaskStrategy, runContent, streamModes } from '../run-content.ts'
import { Checkpoint } from './thread-parts.ts'

/** Documentation of a body that creates a run. */
export const aboutBody = {
  examples: [{ assistant_id: 'agent',
    input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] } }],
}

/** Members of a body that creates a run on a thread which the client names. */
export const threadRunContent = {
  ...runContent,
  multitask_strategy: multitaskStrategy,
  if_not_exists: Type.Optional(Nullable(OneOf(['reject', 'create'], { default: 'reject' }))),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
  checkpoint_id: Type.Optional(Nullable(Type.String())),
}

/** Schema of the status of a run. `interrupted` is one that somebody cancelled, or that asks. */
export const RunStatus = () =>
  OneOf(['pending', 'running', 'success', 'error', 'interrupted', 'timeout'])

/** Schema of the kind of a cancellation. `rollback` removes the steps of the run. */
export const CancelAction = () => OneOf(['interrupt', 'rollback'], { default: 'interrupt' })

/** Fields of a run in answers, and what `select` may name. */
export const runFields = ['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at',
  'status', 'metadata', 'kwargs', 'multitask_strategy', 'cancel_reason', 'revision'] as const

/** Schema of a run in answers. */
export const Run = Type.Object({
  run_id: Uuid(),
  thread_id: Uuid(),
  assistant_id: Uuid(),
  created_at: Time(),
  updated_at: Time(),
  status: RunStatus(),
  metadata: JsonObject(),
  kwargs: JsonObject({ description: 'What the request asked for.' }),
  multitask_strategy: OneOf(['reject', 'enqueue', 'interrupt', 'rollback']),
  cancel_reason: Nullable(Type.String({ description: 'Why it was cancelled: `taken:`, ' +
    '`cancelled:`, `disconnected:`, `superseded:` or `assistant_deleted:`, and a sentence.' })),
  revision: Type.Optional(Type.String({ description: 'The revision of the deployment that ' +
    'executes it; missing before it starts, and without a deployment.' })),
}, { $id: 'Run', description: 'The run.' })
/** A run. */
export type Run = Value<typeof Run>

/** Schema of the result of a run. */
export const RunResult = Json({ $id: 'RunResult', description: 'The state values at the end; ' +
  'with `__interrupt__` if the run waits for a human, or only `__error__: {error, message}` if ' +
  'it failed.' })

/** The events of a run, in the documentation. */
export const runEvents = 'Server-sent events: `event` is the stream mode, `data` one line of ' +
  'JSON, `id` what `Last-Event-ID` takes. `metadata` comes first; `error` is {error, message}. A ' +
  'clean end means that the run is over.'

/** Bounded, because each event is compared with each of them. */
const namespace = Type.Optional(
  Type.Array(Type.String({ maxLength: 2_048 }), { maxItems: 100, 'x-verbatim': true,
    description: 'Only events of these namespaces and of the subgraphs in them, without ' +
      'subagents. Segments are joined by `|`; the empty text is the root.' }),
)

/** Query of operations that create a run and stream its events. */
export const StreamQuery = Type.Object({ namespace })
/** Choice of the events of a run that the request makes. */
export type StreamQuery = Value<typeof StreamQuery>

/** Members of operations that join the stream of a run. */
export const joining = {
  // Without `stream_mode`, all its events.
  query: Type.Object({
    cancel_on_disconnect: Type.Optional(Type.Boolean()),
    stream_mode: Type.Optional(SomeOf(streamModes)),
    namespace,
    checkpoint_id: Type.Optional(
      Type.String({ maxLength: 256,
        description: 'Only events after this checkpoint of the run, without a `last-event-id`.' }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(Type.String({
      description: 'The id of the last event seen; if missing, events are sent from the start.',
    })),
  }),
  events: runEvents,
} as const
/** Choice of the events of a run that a client joins. */
export type JoinQuery = Value<typeof joining.query>
