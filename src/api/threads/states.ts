/** States of a thread: the newest one, and those before each step. */

import { Type } from 'typebox'

import { Command } from '../command.ts'
import { Json, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Text, Time,
  Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Body, Value } from '../operation.ts'
import { Checkpoint, Interrupt, ofThread } from './thread-parts.ts'

/** Form of a state part that may be selected. `words` is the error for any other part. */
export const statePart = {
  pattern: '^(values|next|tasks|checkpoint|metadata|created_at|parent_checkpoint|interrupts' +
    '|checkpoint_id|parent_checkpoint_id|tasks\\.lean|tasks\\.messages|channels|metadata\\..+' +
    '|values\\..+)$',
  words: 'must be a field of the state, or one of its values as values.messages is',
}

const StateParts = () =>
  Type.Array(Type.String({ pattern: statePart.pattern }), { maxItems: 100,
    description: 'Only these fields. `values.<key>` is one key of the values, and ' +
      '`values.<key>[-50:]` a part of a list as Python writes it: `slices` then says where it ' +
      'begins, and how long the list is. `metadata.<key>` is one key of the metadata, without ' +
      'what the step wrote. `tasks.lean` are the tasks without their results, `tasks.messages` ' +
      'those with the messages that they wrote: id, type, and of a model its name and its ' +
      'tokens. `channels` are the channels that the step wrote, with the size of that in bytes.' })

const FoundCheckpoint = Type.Object({
  checkpoint_id: Nullable(Text()),
  thread_id: Text(),
  checkpoint_ns: Text(),
  checkpoint_map: Type.Optional(Nullable(JsonObject({ description: 'Namespace to checkpoint.' }))),
})

const Task = Type.Object({
  id: Text(),
  name: Type.String({ description: 'The node.' }),
  path: Type.Optional(Type.Array(Json())),
  error: Type.Optional(Nullable(
    Type.String({
      description: '{name, message, stack?} as JSON text. `stack` has the places in the project.',
    }),
  )),
  interrupts: Type.Optional(Type.Array(Interrupt)),
  checkpoint: Type.Optional(
    Nullable(
      Type.Partial(FoundCheckpoint, { additionalProperties: true,
        description: 'Of its subgraph.' }),
    ),
  ),
  state: Type.Optional(
    Json({ description: 'The ThreadState of its subgraph, if asked for; otherwise null.' }),
  ),
  result: Type.Optional(Json()),
  messages: Type.Optional(
    Type.Array(JsonObject(), { description: 'Of `tasks.messages`: what the task wrote, lean.' }),
  ),
})

const ThreadState = Type.Partial(
  Type.Object({
    values: Json(),
    next: Type.Array(Text(), { description: 'Nodes that run next.' }),
    tasks: Type.Array(Task),
    metadata: Nullable(JsonObject()),
    created_at: Nullable(Time()),
    checkpoint: Nullable(FoundCheckpoint),
    parent_checkpoint: Nullable(FoundCheckpoint),
    checkpoint_id: Nullable(Text()),
    parent_checkpoint_id: Nullable(Text()),
    interrupts: Type.Array(Interrupt, { description: 'Of all tasks, if they are selected.' }),
    slices: Type.Record(Type.String(), Type.Object({ from: Type.Integer(), total: Type.Integer() }),
      {
        description: 'Places of values that are part of a list.',
      }),
    channels: Type.Record(Type.String(), Type.Integer(), {
      description: 'Channel to the bytes that the step wrote, if that is selected.',
    }),
  }),
  { $id: 'ThreadState', description: 'The state, or what `select` names of it; without a ' +
    'checkpoint if nothing ran yet.' },
)

const StateUpdate = Type.Object({
  checkpoint: Type.Object({ ...FoundCheckpoint.properties, checkpoint_id: Text() }),
  checkpoint_id: Text(),
  configurable: JsonObject({ description: 'The checkpoint, as a config names it.' }),
}, { $id: 'StateUpdate', description: 'The checkpoint that the update made.' })

const reading = {
  ...ofThread,
  access: 'read',
  query: Type.Object({
    subgraphs: Type.Optional(Type.Boolean()),
    select: Type.Optional(StateParts()),
  }),
  answer: ThreadState,
} as const

export const getThreadState = operation('GET', '/threads/:thread_id/state', {
  asks: 'threads:read',
  ...reading,
  summary: 'Get the state of a thread',
})

export const getThreadStateAtCheckpoint = operation('GET',
  '/threads/:thread_id/state/:checkpoint_id', {
  asks: 'threads:read',
  ...reading,
  params: Type.Object({ ...ofThread.params.properties, checkpoint_id: Uuid() }),
  summary: 'Get the state of a thread at a checkpoint',
})

export const postThreadStateAtCheckpoint = operation('POST', '/threads/:thread_id/state/checkpoint',
  {
    asks: 'threads:read',
    ...ofThread,
    access: 'read',
    summary: 'Get the state of a thread at a checkpoint, also of a subgraph',
    body: Type.Object({
      checkpoint: Checkpoint(),
      subgraphs: Type.Optional(Nullable(Type.Boolean())),
      select: Type.Optional(Nullable(StateParts())),
    }, { examples: [{ checkpoint: { checkpoint_ns: '' }, subgraphs: true }] }),
    answer: ThreadState,
  })

// Values are written as a node would write them.
export const updateThreadState = operation('POST', '/threads/:thread_id/state', {
  asks: 'threads:update',
  ...ofThread,
  access: 'change',
  summary: 'Update the state of a thread',
  body: Type.Object({
    values: Type.Optional(Json({ description: 'null writes an empty step.' })),
    command: Type.Optional(Nullable(Command())),
    as_node: Type.Optional(Nullable(Type.String())),
    checkpoint_id: Type.Optional(Nullable(Type.String())),
    checkpoint: Type.Optional(Nullable(Checkpoint())),
  }, { examples: [{ values: { messages: [{ role: 'user', content: 'And in Bergen?' }] } }] }),
  answer: StateUpdate,
})

export const patchThreadState = operation('PATCH', '/threads/:thread_id/state', {
  asks: 'threads:update',
  ...ofThread,
  access: 'change',
  summary: 'Change the metadata of the newest checkpoint of a thread',
  body: Type.Object({
    metadata: Metadata({
      description: 'Merged shallowly into that of the newest checkpoint. All that is ' +
        'merged into checkpoints of a thread has 64 KB at most.',
    }),
  }, { examples: [{ metadata: { reviewed: true } }] }),
})

/**
 * The checkpoint before which a history ends. The official client sends a config; others send an id
 * or a checkpoint.
 */
const Before = () =>
  Type.Union([
    Type.String(),
    Type.Object({ configurable: Type.Object({ checkpoint_id: Type.String() }) }),
    Type.Object({ checkpoint_id: Type.String() }),
    Type.Null(),
  ])

const listing = {
  ...ofThread,
  access: 'read',
  summary: 'Get the history of a thread, newest first',
  answer: Type.Array(ThreadState),
} as const

export const postThreadHistory = operation('POST', '/threads/:thread_id/history', {
  asks: 'threads:read',
  ...listing,
  body: Type.Object({
    limit: Type.Optional(Limit()),
    before: Type.Optional(Before()),
    metadata: Type.Optional(Nullable(MetadataFilter())),
    checkpoint: Type.Optional(Nullable(Checkpoint())),
    select: Type.Optional(Nullable(StateParts())),
  }, { examples: [{ limit: 10 }] }),
})

export const getThreadHistory = operation('GET', '/threads/:thread_id/history', {
  asks: 'threads:read',
  ...listing,
  query: Type.Object({
    limit: Type.Optional(Limit()),
    before: Type.Optional(Type.String()),
    select: Type.Optional(StateParts()),
  }),
})

/** A state, or what `select` names of it. */
export type ThreadState = Value<typeof ThreadState>
/** A node that ran or would run. */
export type StateTask = Value<typeof Task>
/** The place of a state that is read, and the parts of it that are asked for. */
export type ReadStateAt = Body<typeof postThreadStateAtCheckpoint>
/** Values for the state of a thread, and the node that writes them. */
export type UpdateState = Body<typeof updateThreadState>
/** Metadata for the newest checkpoint. */
export type PatchState = Body<typeof patchThreadState>
/** Conditions and page of a history. */
export type ReadHistory = Body<typeof postThreadHistory>
