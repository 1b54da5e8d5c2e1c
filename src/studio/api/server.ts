/** Details of the server, and of the caller. */

import { queryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'

/** Description of a server by itself. Older servers leave out parts that they do not know. */
export interface ServerInfo {
  readonly version: string
  readonly region?: { readonly name: string; readonly api_url?: string }
  /** Credentials that callers must show. */
  readonly auth?: 'none' | 'keys' | 'sessions' | 'keys+sessions'
  readonly features?: Readonly<Partial<Record<Feature, boolean>>>
  readonly graphs?: readonly GraphLoad[]
}

/** A part of the server that may be off. */
export type Feature = 'studio' | 'traces' | 'crons' | 'store' | 'cluster' | 'keys' | 'deployments'

/** A graph of the project, and why it does not load. */
export interface GraphLoad {
  readonly graph_id: string
  /** A sentence with file and line. */
  readonly error?: string
}

/** Identity and rights of the caller. */
export interface WhoAmI {
  readonly tenant?: string
  readonly role?: 'admin' | 'developer' | 'deployer' | 'reader'
  readonly user?: string | null
  readonly key_id?: string | null
  readonly region?: string | null
  readonly expires_at?: string | null
  readonly method?: 'none' | 'key' | 'session'
  readonly graphs?: readonly GraphLoad[]
}

/** The question what the server is: asked again every half minute while somebody looks. */
export const serverInfo = queryOptions({
  queryKey: ['info'],
  queryFn: ({ signal }) => ask<ServerInfo>('/info', { signal }),
  refetchInterval: 30_000,
})

/** Query of the caller's identity and rights; fresh for a minute. */
export const whoAmI = queryOptions({
  queryKey: ['auth'],
  queryFn: ({ signal }) => ask<WhoAmI>('/auth', { signal }),
  staleTime: 60_000,
})
