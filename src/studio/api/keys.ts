/** The API keys of the caller's tenant. */

import { queryOptions } from '@tanstack/react-query'

import type { ApiKey, KeyBody } from '../../api/index.ts'
import { ask } from './ask.ts'
import { pollEvery } from './poll.ts'

export type { ApiKey }

/** Role of a key: the calls that it may make. */
export type KeyRole = ApiKey['role']

/** The question for the keys, the newest first. */
export const apiKeys = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => ask('GET /keys', { signal }),
  refetchInterval: pollEvery(30_000),
})

/** Makes a key. `key` is its text, which is never shown again. */
export const createKey = (body: KeyBody) => ask('POST /keys', { body })

/** Ends a key for ever. */
export const revokeKey = (id: string) => ask('DELETE /keys/:key_id', { params: { key_id: id } })
