/** The schemas of requests about assistants. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { RunnableConfig } from '../../api/index.ts'
import { Json, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf, Uuid,
  wholeMax } from './json.ts'

const content = {
  config: Type.Optional(RunnableConfig()),
  context: Type.Optional(Json({ description: "Values of the graph's context schema." })),
  metadata: Type.Optional(Metadata()),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Nullable(Type.String())),
}

/** Body of requests that create an assistant. */
export const CreateAssistant = Type.Object({
  graph_id: Type.String({ minLength: 1 }),
  assistant_id: Type.Optional(Uuid()),
  if_exists: Type.Optional(OneOf(['raise', 'do_nothing'], { default: 'raise' })),
  ...content,
}, { examples: [{ graph_id: 'agent', name: 'Weather' }] })
/** A checked body of `CreateAssistant`. */
export type CreateAssistant = Static<typeof CreateAssistant>

/** Body of requests that make a new version of an assistant. */
export const PatchAssistant = Type.Object({
  graph_id: Type.Optional(Type.String({ minLength: 1 })),
  ...content,
}, { examples: [{ name: 'Weather', metadata: { team: 'north' } }] })
/** A checked body of `PatchAssistant`. */
export type PatchAssistant = Static<typeof PatchAssistant>

const filter = {
  graph_id: Type.Optional(Nullable(Type.String())),
  name: Type.Optional(Nullable(Type.String({ description: 'Part of the name; case is ignored.' }))),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}

/** Body of requests that count assistants. */
export const CountAssistants = Type.Object(filter, { examples: [{ graph_id: 'agent' }] })
/** A checked body of `CountAssistants`. */
export type CountAssistants = Static<typeof CountAssistants>

/** Fields of an assistant in answers, and what `select` may name. */
export const assistantFields = ['assistant_id', 'graph_id', 'version', 'name', 'description',
  'config', 'context', 'metadata', 'created_at', 'updated_at'] as const

/** Body of requests that search assistants. */
export const SearchAssistants = Type.Object({
  ...filter,
  limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()),
  sort_by: Type.Optional(Nullable(
    OneOf(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at']),
  )),
  sort_order: Type.Optional(Nullable(OneOf(['asc', 'desc']))),
  select: Type.Optional(Nullable(SomeOf(assistantFields))),
}, { examples: [{ limit: 10 }] })
/** A checked body of `SearchAssistants`. */
export type SearchAssistants = Static<typeof SearchAssistants>

/** Body of requests that list the versions of an assistant, newest first. */
export const ListVersions = Type.Object({
  limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}, { examples: [{ limit: 10 }] })
/** A checked body of `ListVersions`. */
export type ListVersions = Static<typeof ListVersions>

/** Body of requests that make a version the current one. */
export const SetLatest = Type.Object({
  version: Type.Integer({ minimum: 1, maximum: wholeMax }),
}, { examples: [{ version: 1 }] })
/** A checked body of `SetLatest`. */
export type SetLatest = Static<typeof SetLatest>

/** Query of requests that delete an assistant. */
export const DeleteAssistant = Type.Object({ delete_threads: Type.Optional(Type.Boolean()) })

/** Query of requests for the drawing of a graph. */
export const DrawGraph = Type.Object({
  xray: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Boolean()], {
    description: 'How many levels of subgraphs to draw; true for all.',
  })),
})

/** Query of requests for the schemas of subgraphs; `recurse` includes subgraphs of subgraphs. */
export const DescribeSubgraphs = Type.Object({ recurse: Type.Optional(Type.Boolean()) })

/** Path of requests about one assistant. */
export const AssistantPath = Type.Object({
  assistant_id: Type.String({ minLength: 1, description: 'A UUID, or a graph id for the ' +
    'assistant that the graph has from the start.' }),
})

/** Path of requests about one subgraph of an assistant. */
export const SubgraphPath = Type.Object({
  ...AssistantPath.properties,
  namespace: Type.String({ minLength: 1 }),
})
