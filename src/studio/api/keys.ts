/** The API keys of the caller's tenant. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post } from './client.ts'
import { pollEvery } from './poll.ts'

/** What a key may do. */
export type KeyRole = 'admin' | 'developer' | 'deployer' | 'reader'

/** A key, without its text. Times are ISO texts. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly role: KeyRole
  readonly tenant: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

/** What is said of a new key. */
export interface KeyRequest {
  readonly name: string
  readonly role: KeyRole
  /** Null for a key that does not end. */
  readonly expires_in_days: number | null
}

/** The question for the keys, the newest first. */
export const apiKeys = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => ask<readonly ApiKey[]>('/keys', { signal }),
  refetchInterval: pollEvery(30_000),
})

/** Makes a key. `key` is its text, which is never shown again. */
export const createKey = (options: KeyRequest): Promise<ApiKey & { readonly key: string }> =>
  post('/keys', options)

/** Ends a key for ever. */
export const revokeKey = (id: string): Promise<null> =>
  ask(`/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
