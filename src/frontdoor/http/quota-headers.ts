/** The headers of a rate limit, as in the IETF draft. */

import type { FastifyReply } from 'fastify'

/** A rate limit as answers describe it. */
export interface LimitDetails {
  /** Name of the limit. */
  readonly row: string
  /** Requests in an interval. */
  readonly count: number
  readonly intervalSeconds: number
}

/** Sets how much is left and, on a refused request, the seconds until there is more. */
export function quotaHeaders(reply: FastifyReply, { row, count, intervalSeconds }: LimitDetails,
  remaining: number, retryAfterSeconds?: string): void {
  const until = retryAfterSeconds === undefined ? '' : `;t=${retryAfterSeconds}`
  void reply.header('ratelimit-policy', `"${row}";q=${count};w=${intervalSeconds}`)
    .header('ratelimit', `"${row}";r=${remaining}${until}`)
}
