/** The limits and quotas of the caller, or of another key of its tenant. */

import { queryOptions } from '@tanstack/react-query'

import type { LimitReport, LimitRow } from '../../api/index.ts'
import { ask } from './ask.ts'
import { pollEvery } from './poll.ts'

export type { LimitReport as Limits, LimitRow }

/** The question for the limits of the caller, or of a key by its id. */
export const limitsOf = (key: string | undefined) =>
  queryOptions({
    queryKey: ['limits', key ?? null],
    queryFn: ({ signal }) => ask('GET /limits', { query: { key }, signal }),
    // Only the caller's own limits are read without a charge.
    refetchInterval: pollEvery(key === undefined ? 2_000 : 5_000),
  })

/** The question who is refused. */
export const refusedCallers = queryOptions({
  queryKey: ['limits', 'refused'],
  queryFn: async ({ signal }) => (await ask('GET /limits/refused', { signal })).callers,
  refetchInterval: pollEvery(5_000),
})
