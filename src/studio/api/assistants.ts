/** The calls about assistants and their graphs. */

import { queryOptions } from '@tanstack/react-query'

import type { Assistant } from '../../api/index.ts'
import { ask } from './ask.ts'

/** All assistants, by name; 1 000 at most. */
export const assistantList = queryOptions({
  queryKey: ['assistants'],
  // They have all fields, since the call selects none.
  queryFn: ({ signal }) =>
    ask('POST /assistants/search', { signal,
      body: { limit: 1_000, sort_by: 'name', sort_order: 'asc' } }) as Promise<
        readonly Assistant[]
      >,
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
