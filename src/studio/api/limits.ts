/** The limits and quotas of the caller, or of another key of its tenant. */

import { queryOptions } from '@tanstack/react-query'

import { ask } from './client.ts'
import { pollEvery } from './poll.ts'

/** A limit, and how much of it is left. */
export interface LimitRow {
  readonly id: string
  /** What it counts. */
  readonly words: string
  readonly category: string
  readonly pattern: string
  readonly limit: number
  readonly window_s: number
  readonly remaining: number
  /** Seconds until there is more; 0 if nothing is used. */
  readonly reset_s: number
  readonly refused: number
}

/** A quota of the tenant. */
export interface QuotaRow {
  readonly name: string
  readonly words: string
  /** Null for none. */
  readonly limit: number | null
  readonly used: number
}

/** What the caller may do, and how much of it is used. */
export interface Limits {
  readonly rows: readonly LimitRow[]
  readonly quotas: readonly QuotaRow[]
  /** Whether requests are charged to limits. */
  readonly enabled: boolean
}

/** A caller that limits refused. */
export interface RefusedCaller {
  readonly key_id?: string
  readonly user?: string
  readonly address?: string
  /** The id of the limit. */
  readonly row: string
  readonly refused: number
  readonly last: string
}

/** The question for the limits of the caller, or of a key by its id. */
export const limitsOf = (key: string | undefined) =>
  queryOptions({
    queryKey: ['limits', key ?? null],
    queryFn: ({ signal }) =>
      ask<Limits>(`/limits${key === undefined ? '' : `?key=${encodeURIComponent(key)}`}`, {
        signal,
      }),
    // Only the caller's own limits are read without a charge.
    refetchInterval: pollEvery(key === undefined ? 2_000 : 5_000),
  })

/** The question who is refused. */
export const refusedCallers = queryOptions({
  queryKey: ['limits', 'refused'],
  queryFn: async ({ signal }) =>
    (await ask<{ readonly callers: readonly RefusedCaller[] }>('/limits/refused', { signal }))
      .callers,
  refetchInterval: pollEvery(5_000),
})
