/** The schemas of requests about assistants. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Json, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf, Uuid,
  wholeMax } from './json.ts'

/** LangGraph copies a config key by key for each task. */
const keysOfConfig = { maxProperties: 1_000 }

export const RunnableConfig = () =>
  Type.Object({
    tags: Type.Optional(Type.Array(Type.String())),
    recursion_limit: Type.Optional(Type.Integer({ minimum: 1 })),
    max_concurrency: Type.Optional(Type.Integer({ minimum: 1 })),
    configurable: Type.Optional(JsonObject(keysOfConfig)),
    metadata: Type.Optional(Nullable(JsonObject(keysOfConfig))),
  }, { ...keysOfConfig, description: 'Config for the graph. Other keys are kept.' })

const content = {
  config: Type.Optional(RunnableConfig()),
  context: Type.Optional(Json({ description: "Values of the graph's context schema." })),
  metadata: Type.Optional(Metadata()),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Nullable(Type.String())),
}

export const CreateAssistant = Type.Object({
  graph_id: Type.String({ minLength: 1 }),
  assistant_id: Type.Optional(Uuid()),
  if_exists: Type.Optional(OneOf(['raise', 'do_nothing'], { default: 'raise' })),
  ...content,
}, { examples: [{ graph_id: 'agent', name: 'Weather' }] })
export type CreateAssistant = Static<typeof CreateAssistant>

export const PatchAssistant = Type.Object({
  graph_id: Type.Optional(Type.String({ minLength: 1 })),
  ...content,
}, { examples: [{ name: 'Weather', metadata: { team: 'north' } }] })
export type PatchAssistant = Static<typeof PatchAssistant>

const filter = {
  graph_id: Type.Optional(Nullable(Type.String())),
  name: Type.Optional(Nullable(Type.String({ description: 'Part of the name; case is ignored.' }))),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}

export const CountAssistants = Type.Object(filter, { examples: [{ graph_id: 'agent' }] })
export type CountAssistants = Static<typeof CountAssistants>

export const assistantFields = ['assistant_id', 'graph_id', 'version', 'name', 'description',
  'config', 'context', 'metadata', 'created_at', 'updated_at'] as const

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
export type SearchAssistants = Static<typeof SearchAssistants>

export const ListVersions = Type.Object({
  limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}, { examples: [{ limit: 10 }] })
export type ListVersions = Static<typeof ListVersions>

export const SetLatest = Type.Object({
  version: Type.Integer({ minimum: 1, maximum: wholeMax }),
}, { examples: [{ version: 1 }] })
export type SetLatest = Static<typeof SetLatest>

export const DeleteAssistant = Type.Object({ delete_threads: Type.Optional(Type.Boolean()) })

export const DrawGraph = Type.Object({
  xray: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Boolean()], {
    description: 'How many levels of subgraphs to draw; true for all.',
  })),
})

export const DescribeSubgraphs = Type.Object({ recurse: Type.Optional(Type.Boolean()) })

export const AssistantPath = Type.Object({
  assistant_id: Type.String({ minLength: 1, description: 'A UUID, or a graph id for the ' +
    'assistant that the graph has from the start.' }),
})

export const SubgraphPath = Type.Object({
  ...AssistantPath.properties,
  namespace: Type.String({ minLength: 1 }),
})
