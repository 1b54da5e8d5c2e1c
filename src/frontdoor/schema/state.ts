/** The schemas of requests about a thread's state and history. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Command } from '../../api/index.ts'
import { Json, Limit, Metadata, MetadataFilter, Nullable, Uuid } from './json.ts'

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
/** A checked reference to a checkpoint. Without an id it means the newest one. */
export type Checkpoint = Static<ReturnType<typeof Checkpoint>>

/** Path of requests about the state at one checkpoint. */
export const CheckpointPath = Type.Object({ thread_id: Uuid(), checkpoint_id: Uuid() })

/** Form of a state part that may be selected. `words` is the error for any other part. */
export const statePart = {
  pattern: '^(values|next|tasks|checkpoint|metadata|created_at|parent_checkpoint|interrupts' +
    '|checkpoint_id|parent_checkpoint_id|tasks\\.lean|channels|metadata\\..+|values\\..+)$',
  words: 'must be a field of the state, or one of its values as values.messages is',
}

const StateParts = () =>
  Type.Array(Type.String({ pattern: statePart.pattern }), { maxItems: 100,
    description: 'Only these fields. `values.<key>` is one key of the values, and ' +
      '`values.<key>[-50:]` a part of a list as Python writes it: `slices` then says where it ' +
      'begins, and how long the list is. `metadata.<key>` is one key of the metadata, without ' +
      'what the step wrote. `tasks.lean` are the tasks without their results. `channels` are the ' +
      'channels that the step wrote, with the size of that in bytes.' })

/** Query of requests that read the newest state, or the state at the checkpoint in the path. */
export const ReadState = Type.Object({
  subgraphs: Type.Optional(Type.Boolean()),
  select: Type.Optional(StateParts()),
})

/** Body of requests that read the state at a checkpoint. */
export const ReadStateAt = Type.Object({
  checkpoint: Checkpoint(),
  subgraphs: Type.Optional(Nullable(Type.Boolean())),
  select: Type.Optional(Nullable(StateParts())),
}, { examples: [{ checkpoint: { checkpoint_ns: '' }, subgraphs: true }] })
/** A checked body of `ReadStateAt`. */
export type ReadStateAt = Static<typeof ReadStateAt>

/** Body of requests that write values into the state of a thread, as a node would. */
export const UpdateState = Type.Object({
  values: Type.Optional(Json({ description: 'null writes an empty step.' })),
  command: Type.Optional(Nullable(Command())),
  as_node: Type.Optional(Nullable(Type.String())),
  checkpoint_id: Type.Optional(Nullable(Type.String())),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
}, { examples: [{ values: { messages: [{ role: 'user', content: 'And in Bergen?' }] } }] })
/** A checked body of `UpdateState`. */
export type UpdateState = Static<typeof UpdateState>

/** Body of requests that change the metadata of the newest checkpoint. */
export const PatchState = Type.Object({
  metadata: Metadata({
    description: 'Merged shallowly into that of the newest checkpoint. All that is ' +
      'merged into checkpoints of a thread has 64 KB at most.',
  }),
}, { examples: [{ metadata: { reviewed: true } }] })
/** A checked body of `PatchState`. */
export type PatchState = Static<typeof PatchState>

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

/** Body of requests that read the history of a thread. */
export const ReadHistory = Type.Object({
  limit: Type.Optional(Limit()),
  before: Type.Optional(Before()),
  metadata: Type.Optional(Nullable(MetadataFilter())),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
  select: Type.Optional(Nullable(StateParts())),
}, { examples: [{ limit: 10 }] })
/** A checked body of `ReadHistory`. */
export type ReadHistory = Static<typeof ReadHistory>

/** Query of requests that read the history of a thread. */
export const ListHistory = Type.Object({
  limit: Type.Optional(Limit()),
  before: Type.Optional(Type.String()),
  select: Type.Optional(StateParts()),
})
