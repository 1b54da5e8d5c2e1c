/** The calls about assistants and their graphs. */

import { queryOptions } from '@tanstack/react-query'

import type { Assistant } from '../../api/index.ts'
import { ask, askSelected } from './ask.ts'

const columns = ['assistant_id', 'graph_id', 'version', 'name', 'description', 'config', 'context',
  'metadata', 'created_at', 'updated_at'] as const

/** All assistants, by name; 1 000 at most. */
export const assistantList = queryOptions({
  queryKey: ['assistants'],
  queryFn: async ({ signal }): Promise<readonly Assistant[]> => {
    const { data } = await askSelected('POST /assistants/search', columns, { signal,
      body: { limit: 1_000, sort_by: 'name', sort_order: 'asc' } })
    return data
  },
  staleTime: 15_000,
})

/** The picture of the graph of an assistant, its subgraphs included. */
export const graphPicture = (id: string) =>
  queryOptions({
    queryKey: ['assistants', id, 'graph'],
    queryFn: ({ signal }) =>
      ask('GET /assistants/:assistant_id/graph', { signal, params: { assistant_id: id },
        query: { xray: true } }),
    staleTime: 60_000,
  })

/** The schemas of the graph of an assistant. */
export const graphSchemas = (id: string) =>
  queryOptions({
    queryKey: ['assistants', id, 'schemas'],
    queryFn: ({ signal }) =>
      ask('GET /assistants/:assistant_id/schemas', { signal, params: { assistant_id: id } }),
    staleTime: 60_000,
  })
