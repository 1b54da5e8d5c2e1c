/** Details of the server, and of the caller. */

import { queryOptions } from '@tanstack/react-query'

import type { CallerDetails, ServerInfo as Described } from '../../api/index.ts'
import { ask } from './ask.ts'

/** Description of a server by itself. Older servers leave out parts that they do not know. */
export type ServerInfo = Partial<Described> & Pick<Described, 'version'>

/** A part of the server that may be off. */
export type Feature = keyof Described['features']

/** A graph of the project, and why it does not load. */
export type GraphLoad = NonNullable<Described['graphs']>[number]

/** Identity and rights of the caller. Older servers leave out parts that they do not know. */
export type WhoAmI = Partial<CallerDetails>

/** The question what the server is: asked again every half minute while somebody looks. */
export const serverInfo = queryOptions({
  queryKey: ['info'],
  queryFn: ({ signal }): Promise<ServerInfo> => ask('GET /info', { signal }),
  refetchInterval: 30_000,
})

/** Query of the caller's identity and rights; fresh for a minute. */
export const whoAmI = queryOptions({
  queryKey: ['auth'],
  queryFn: ({ signal }): Promise<WhoAmI> => ask('GET /api/v1/auth', { signal }),
  staleTime: 60_000,
})
