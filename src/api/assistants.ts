/** Assistants: stored configurations of graphs, in numbered versions. */

import { Type } from 'typebox'

import { RunnableConfig } from './config.ts'
import { Count, Json, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf,
  Text, Time, Uuid, wholeMax } from './json.ts'
import { operation } from './operation.ts'
import type { Body, Value } from './operation.ts'

const content = {
  config: Type.Optional(RunnableConfig()),
  context: Type.Optional(Json({ description: "Values of the graph's context schema." })),
  metadata: Type.Optional(Metadata()),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Nullable(Type.String())),
}

const filter = {
  graph_id: Type.Optional(Nullable(Type.String())),
  name: Type.Optional(Nullable(Type.String({ description: 'Part of the name; case is ignored.' }))),
  metadata: Type.Optional(Nullable(MetadataFilter())),
}

/** Fields of an assistant in answers, and what `select` may name. */
export const assistantFields = ['assistant_id', 'graph_id', 'version', 'name', 'description',
  'config', 'context', 'metadata', 'created_at', 'updated_at'] as const

const Assistant = Type.Object({
  assistant_id: Uuid(),
  graph_id: Text(),
  version: Type.Integer(),
  name: Text(),
  description: Nullable(Text()),
  config: JsonObject(),
  context: Json(),
  metadata: JsonObject(),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Assistant', description: 'The assistant in its active version.' })

const FoundAssistant = Type.Partial(Assistant, { $id: 'FoundAssistant',
  description: 'All fields, or those that `select` names.' })

/** A node is a text, or the number that LangGraph gives to a node without a name. */
const NodeId = () => Type.Union([Text(), Type.Integer()])

const Graph = Type.Object({
  nodes: Type.Array(Type.Object({ id: NodeId(), type: Text(), data: Json() })),
  edges: Type.Array(
    Type.Object({ source: NodeId(), target: NodeId(), conditional: Type.Optional(Type.Boolean()),
      data: Type.Optional(Text()) }),
  ),
}, { $id: 'Graph', description: 'The graph; nodes of subgraphs are named `subgraph:node`.' })

const schemas = {
  input_schema: Nullable(JsonObject()),
  output_schema: Nullable(JsonObject()),
  state_schema: Nullable(JsonObject()),
  config_schema: Nullable(JsonObject()),
  context_schema: Nullable(JsonObject()),
  types_loading: Type.Optional(Type.Boolean({ description: 'True while types in TypeScript are ' +
    'still being read: ask again in some seconds for schemas that say more.' })),
}

const GraphSchemas = Type.Object({ graph_id: Text(), ...schemas }, { $id: 'GraphSchemas',
  description: 'JSON Schemas; null if the graph has none.' })

const SubgraphSchemas = Type.Object({}, { $id: 'SubgraphSchemas',
  description: 'Namespace to schemas.',
  additionalProperties: Type.Object({ ...schemas, ...Object.fromEntries(
    ['state', 'input', 'output', 'config'].map((
      name,
    ) => [name, Json({ description: `The same as ${name}_schema.` })]),
  ) }) })

const params = Type.Object({
  assistant_id: Type.String({ minLength: 1, description: 'A UUID, or a graph id for the ' +
    'assistant that the graph has from the start.' }),
})

export const createAssistant = operation('POST', '/assistants', {
  asks: 'assistants:create',
  access: 'change',
  summary: 'Create an assistant',
  body: Type.Object({
    graph_id: Type.String({ minLength: 1 }),
    assistant_id: Type.Optional(Uuid()),
    if_exists: Type.Optional(OneOf(['raise', 'do_nothing'], { default: 'raise' })),
    ...content,
  }, { examples: [{ graph_id: 'agent', name: 'Weather' }] }),
  answer: Assistant,
})

export const getAssistant = operation('GET', '/assistants/:assistant_id', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'Get an assistant',
  params,
  answer: Assistant,
})

export const updateAssistant = operation('PATCH', '/assistants/:assistant_id', {
  asks: 'assistants:update',
  access: 'change',
  summary: 'Update an assistant: a new version, which becomes the active one',
  params,
  body: Type.Object({
    graph_id: Type.Optional(Type.String({ minLength: 1 })),
    ...content,
  }, { examples: [{ name: 'Weather', metadata: { team: 'north' } }] }),
  answer: Assistant,
})

export const deleteAssistant = operation('DELETE', '/assistants/:assistant_id', {
  asks: 'assistants:delete',
  access: 'change',
  summary: 'Delete an assistant with all its versions',
  params,
  query: Type.Object({ delete_threads: Type.Optional(Type.Boolean()) }),
})

export const searchAssistants = operation('POST', '/assistants/search', {
  asks: 'assistants:search',
  access: 'read',
  summary: 'Search assistants',
  body: Type.Object({
    ...filter,
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    sort_by: Type.Optional(Nullable(
      OneOf(['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at']),
    )),
    sort_order: Type.Optional(Nullable(OneOf(['asc', 'desc']))),
    select: Type.Optional(Nullable(SomeOf(assistantFields))),
  }, { examples: [{ limit: 10 }] }),
  answer: Type.Array(FoundAssistant),
  whole: Type.Array(Assistant),
  returns: ['x-pagination-total', 'x-pagination-next'],
})

export const countAssistants = operation('POST', '/assistants/count', {
  asks: 'assistants:search',
  access: 'read',
  summary: 'Count assistants',
  body: Type.Object(filter, { examples: [{ graph_id: 'agent' }] }),
  answer: Count,
})

export const listAssistantVersions = operation('POST', '/assistants/:assistant_id/versions', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'List the versions of an assistant, newest first',
  params,
  body: Type.Object({
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    metadata: Type.Optional(Nullable(MetadataFilter())),
  }, { examples: [{ limit: 10 }] }),
  answer: Type.Array(Assistant),
})

export const setLatestAssistantVersion = operation('POST', '/assistants/:assistant_id/latest', {
  asks: 'assistants:update',
  access: 'change',
  summary: 'Make a version the active one',
  params,
  body: Type.Object({
    version: Type.Integer({ minimum: 1, maximum: wholeMax }),
  }, { examples: [{ version: 1 }] }),
  answer: Assistant,
})

export const getAssistantGraph = operation('GET', '/assistants/:assistant_id/graph', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'Get the graph as nodes and edges',
  params,
  query: Type.Object({
    xray: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Boolean()], {
      description: 'How many levels of subgraphs to draw; true for all.',
    })),
  }),
  answer: Graph,
})

export const getAssistantSchemas = operation('GET', '/assistants/:assistant_id/schemas', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'Get the schemas of the graph',
  params,
  answer: GraphSchemas,
})

const recursion = { query: Type.Object({ recurse: Type.Optional(Type.Boolean()) }) }

export const getAssistantSubgraphs = operation('GET', '/assistants/:assistant_id/subgraphs', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'Get the schemas of every subgraph',
  params,
  ...recursion,
  answer: SubgraphSchemas,
})

export const getAssistantSubgraph = operation('GET',
  '/assistants/:assistant_id/subgraphs/:namespace', {
  asks: 'assistants:read',
  access: 'read',
  summary: 'Get the schemas of the subgraph at a namespace',
  params: Type.Object({ ...params.properties, namespace: Type.String({ minLength: 1 }) }),
  ...recursion,
  answer: SubgraphSchemas,
})

/** An assistant, in one of its versions. */
export type Assistant = Value<typeof Assistant>
/** A graph as it is drawn. */
export type GraphPicture = Value<typeof Graph>
/** The schemas of a graph. */
export type GraphSchemas = Value<typeof GraphSchemas>
/** An assistant as a client makes it. */
export type CreateAssistant = Body<typeof createAssistant>
/** A change of an assistant: members that are absent stay. */
export type PatchAssistant = Body<typeof updateAssistant>
/** Conditions on the assistants that are counted. */
export type CountAssistants = Body<typeof countAssistants>
/** Conditions, order and page of a search for assistants. */
export type SearchAssistants = Body<typeof searchAssistants>
/** Conditions and page of a list of versions. */
export type ListVersions = Body<typeof listAssistantVersions>
