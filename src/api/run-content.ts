/** Members of the bodies that make runs, and of the bodies that crons keep for their runs. */

import { Type } from 'typebox'

import { Command } from './command.ts'
import { RunnableConfig } from './config.ts'
import { Json, JsonObject, Metadata, Nullable, OneOf, SomeOf } from './json.ts'

/** Kinds of events of a run. */
export const streamModes = ['values', 'updates', 'messages', 'messages-tuple', 'custom', 'debug',
  'events', 'tasks', 'tasks-lean', 'checkpoints', 'tools', 'lifecycle'] as const

/** Kind of events of a run. */
export type StreamMode = typeof streamModes[number]

const StreamModes = () => Type.Union([OneOf(streamModes), SomeOf(streamModes)])

const Breakpoints = () =>
  Type.Union([Type.Literal('*'), Type.Array(Type.String()), Type.Null()], {
    description: 'Node names, or `*` for every node.',
  })

const FeedbackKey = () => Type.String({ minLength: 1, maxLength: 180 })

/** Members of a body that every run may have. */
export const runContent = {
  assistant_id: Type.String({ minLength: 1,
    description: 'A UUID, or a graph id for the assistant that the graph has from the start.' }),
  input: Type.Optional(Json({ description: "null continues from the thread's state." })),
  command: Type.Optional(Nullable(Command())),
  config: Type.Optional(Nullable(RunnableConfig())),
  context: Type.Optional(Json({ description: "Merged over the assistant's context." })),
  metadata: Type.Optional(Nullable(Metadata())),
  stream_mode: Type.Optional(Nullable(StreamModes())),
  stream_subgraphs: Type.Optional(Nullable(Type.Boolean())),
  stream_resumable: Type.Optional(Nullable(Type.Boolean())),
  interrupt_before: Type.Optional(Breakpoints()),
  interrupt_after: Type.Optional(Breakpoints()),
  on_disconnect: Type.Optional(Nullable(OneOf(['cancel', 'continue'], { default: 'continue' }))),
  after_seconds: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 31_536_000 }))),
  durability: Type.Optional(Nullable(OneOf(['sync', 'async', 'exit'], { default: 'async' }))),
  checkpoint_during: Type.Optional(
    Nullable(Type.Boolean({ deprecated: true, description: 'false means durability `exit`.' })),
  ),
  webhook: Type.Optional(
    Nullable(
      Type.String({ maxLength: 2_048,
        description: 'An http(s) URL that gets a POST when the run has ended.' }),
    ),
  ),
  strict_resume: Type.Optional(
    Nullable(
      Type.Boolean({ default: false,
        description: 'Refuse an answer to an interrupt that does not wait: the run ends as an ' +
          'UnknownInterruptError, and the thread stays as it was.' }),
    ),
  ),
  feedback_keys: Type.Optional(
    Nullable(
      Type.Union([FeedbackKey(), Type.Array(FeedbackKey(), { maxItems: 100 })], {
        description: 'Kinds of feedback. The stream of the run ends with an event `feedback`, ' +
          'which has a link for each: with it, anybody may give it.',
      }),
    ),
  ),
  langsmith_tracer: Type.Optional(Nullable(JsonObject({ description: 'For tracing; ignored.' }))),
}

/** Fate of a run whose thread is busy. */
export const multitaskStrategy = Type.Optional(Nullable(
  OneOf(['reject', 'enqueue', 'interrupt', 'rollback'], { default: 'enqueue' }),
))

/** Headers of requests that create a run. */
export const CreationHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({
    description: 'Requests with the same key make one run within 24 hours, or one cron. A ' +
      'request whose run was deleted gets 404.',
  })),
  'x-heddle-revision': Type.Optional(Type.String({
    description: 'The revision of the deployment that executes the run, instead of the active one.',
  })),
})
