/** The cluster: its members and shards now, and what happens to them. */

import { Type } from 'typebox'

import { Nullable, OneOf, Text, Time } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const Cluster = Type.Object({
  members: Type.Array(Type.Object({
    id: Text(),
    address: Text(),
    version: Nullable(Type.String({ description: 'Null if it did not answer, as all below.' })),
    started_at: Nullable(Time()),
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
  region: Nullable(Type.Object({
    name: Text(),
    api_url: Type.Optional(Text()),
    ingress: Type.Array(Text()),
    egress: Type.Array(Text()),
  })),
  embedded: Type.Boolean({ description: 'True if no other member can join.' }),
}, { $id: 'Cluster', description: 'The cluster as this member sees it.' })

export const getCluster = operation('GET', '/cluster', {
  access: 'admin',
  summary: 'Get the members of the cluster, and which shards they own',
  answer: Cluster,
})

export const streamCluster = operation('GET', '/cluster/stream', {
  access: 'admin',
  summary: 'Stream what happens to members and shards',
  events: 'Server-sent events: first `cluster` with what `GET /cluster` answers, then ' +
    '`joined`, `gone` and `draining` with a member, `moved` with {from, to, shards, at}, and ' +
    '`load` at most once a second.',
})

/** The cluster at one moment. */
export type Cluster = Value<typeof Cluster>
