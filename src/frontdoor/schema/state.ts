/** The schemas of requests about a thread's state and history. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Command } from './command.ts'
import { Json, Limit, MetadataFilter, Nullable, Uuid } from './json.ts'

export const Checkpoint = () => Type.Object({
  checkpoint_id: Type.Optional(Nullable(Type.String())),
  checkpoint_ns: Type.Optional(Nullable(Type.String())),
  checkpoint_map: Type.Optional(Nullable(
    Type.Unsafe<Record<string, string>>({ type: 'object',
      additionalProperties: { type: 'string' } }))),
}, { description: 'A checkpoint in the thread\'s history; without an id, the newest.' })
export type Checkpoint = Static<ReturnType<typeof Checkpoint>>

export const CheckpointPath = Type.Object({ thread_id: Uuid(), checkpoint_id: Uuid() })

export const ReadState = Type.Object({ subgraphs: Type.Optional(Type.Boolean()) })

export const ReadStateAt = Type.Object({
  checkpoint: Checkpoint(),
  subgraphs: Type.Optional(Nullable(Type.Boolean())),
}, { examples: [{ checkpoint: { checkpoint_ns: '' }, subgraphs: true }] })
export type ReadStateAt = Static<typeof ReadStateAt>

export const UpdateState = Type.Object({
  values: Type.Optional(Json({ description: 'null writes an empty step.' })),
  command: Type.Optional(Nullable(Command())),
  as_node: Type.Optional(Nullable(Type.String())),
  checkpoint_id: Type.Optional(Nullable(Type.String())),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
}, { examples: [{ values: { messages: [{ role: 'user', content: 'And in Bergen?' }] } }] })
export type UpdateState = Static<typeof UpdateState>

/** The official client sends a config; others an id or a checkpoint. */
const Before = () => Type.Union([
  Type.String(),
  Type.Object({ configurable: Type.Object({ checkpoint_id: Type.String() }) }),
  Type.Object({ checkpoint_id: Type.String() }),
  Type.Null(),
])

export const ReadHistory = Type.Object({
  limit: Type.Optional(Limit()),
  before: Type.Optional(Before()),
  metadata: Type.Optional(Nullable(MetadataFilter())),
  checkpoint: Type.Optional(Nullable(Checkpoint())),
}, { examples: [{ limit: 10 }] })
export type ReadHistory = Static<typeof ReadHistory>

export const ListHistory = Type.Object({
  limit: Type.Optional(Limit()),
  before: Type.Optional(Type.String()),
})
