/** The headers of a limit, as in the IETF draft. */

import type { FastifyReply } from 'fastify'

/** A limit as it is described in answers. */
export interface LimitDetails {
  readonly row: string
  readonly count: number
  readonly intervalSeconds: number
}

/** How much is left and, for a refused request, when there is more. */
export function quotaHeaders(reply: FastifyReply, { row, count, intervalSeconds }: LimitDetails,
  remaining: number, retryAfterSeconds?: string): void {
  const until = retryAfterSeconds === undefined ? '' : `;t=${retryAfterSeconds}`
  void reply.header('ratelimit-policy', `"${row}";q=${count};w=${intervalSeconds}`)
    .header('ratelimit', `"${row}";r=${remaining}${until}`)
}
