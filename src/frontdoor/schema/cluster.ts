/** The schemas of answers about the cluster. */

import { Type } from 'typebox'

import { JsonObject, Nullable, OneOf } from './json.ts'

const Cluster = Type.Object({
  members: Type.Array(Type.Object({
    id: Type.String(),
    address: Type.String(),
    version: Nullable(Type.String({ description: 'Null if it did not answer, as all below.' })),
    started_at: Nullable(Type.String({ format: 'date-time' })),
    state: OneOf(['joining', 'serving', 'draining', 'gone']),
    self: Type.Boolean({ description: 'True for the member that answers.' }),
    shards: Type.Integer(),
    actors: Nullable(Type.Integer({ description: 'Actors in memory.' })),
    runs: Nullable(Type.Integer({ description: 'Runs that it executes.' })),
    load: Nullable(Type.Number({ description: 'Share of its processors that it used lately.' })),
  })),
  shards: Type.Object({
    count: Type.Integer(),
    owners: Type.Array(
      Nullable(Type.Integer({ description: 'Index of a member; null if nobody owns the shard.' })),
    ),
  }),
  region: Nullable(JsonObject()),
  embedded: Type.Boolean({ description: 'True if no other member can join.' }),
}, { $id: 'Cluster', description: 'The cluster as this member sees it.' })

/** Schemas of answers about the cluster. They only document. */
export const clusterAnswers = [Cluster]
