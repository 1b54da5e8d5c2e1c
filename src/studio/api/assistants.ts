/** Assistants and their graphs, as the API has them, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post } from './client.ts'
import type { JsonObject } from './client.ts'

/** An assistant: a graph with settings, in one of its versions. */
export interface Assistant {
  readonly assistant_id: string
  readonly graph_id: string
  readonly name: string
  readonly description?: string | null
  readonly version: number
  readonly config: JsonObject
  readonly context: JsonObject
  readonly metadata: JsonObject
  readonly created_at: string
  readonly updated_at: string
}

/** A graph as it is drawn. Nodes of subgraphs have the id `<node>:<node>`. */
export interface GraphPicture {
  readonly nodes: readonly {
    readonly id: string | number
    readonly type: string
    readonly data: unknown
  }[]
  readonly edges: readonly {
    readonly source: string | number
    readonly target: string | number
    readonly conditional?: boolean
    readonly data?: string
  }[]
}

/** The schemas of a graph, as JSON Schema. */
export interface GraphSchemas {
  readonly graph_id: string
  readonly input_schema: JsonObject | null
  readonly output_schema: JsonObject | null
  readonly state_schema: JsonObject | null
  readonly config_schema: JsonObject | null
  readonly context_schema: JsonObject | null
}

/** All assistants, by name; 1 000 at most. */
export const assistantList = queryOptions({
  queryKey: ['assistants'],
  queryFn: ({ signal }) =>
    post<Assistant[]>('/assistants/search', { limit: 1_000, sort_by: 'name', sort_order: 'asc' },
      signal),
  staleTime: 15_000,
})

/** The picture of the graph of an assistant, its subgraphs included. */
export const graphPicture = (assistantId: string) =>
  queryOptions({
    queryKey: ['assistants', assistantId, 'graph'],
    queryFn: ({ signal }) =>
      ask<GraphPicture>(`/assistants/${assistantId}/graph?xray=true`, { signal }),
    staleTime: 60_000,
  })

/** The schemas of the graph of an assistant. */
export const graphSchemas = (assistantId: string) =>
  queryOptions({
    queryKey: ['assistants', assistantId, 'schemas'],
    queryFn: ({ signal }) => ask<GraphSchemas>(`/assistants/${assistantId}/schemas`, { signal }),
    staleTime: 60_000,
  })
