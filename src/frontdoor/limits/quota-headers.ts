/** What a limit says of itself in headers, as the IETF drafts them. */

import type { FastifyReply } from 'fastify'

/** A limit as an answer names it. */
export interface LimitFacts {
  readonly row: string
  readonly count: number
  readonly intervalSeconds: number
}

/** In the answer to a request that is let through: what is left; to one that is not: until when. */
export function quotaHeaders(reply: FastifyReply, { row, count, intervalSeconds }: LimitFacts,
  remaining: number, retryAfterSeconds?: string): void {
  const until = retryAfterSeconds === undefined ? '' : `;t=${retryAfterSeconds}`
  void reply.header('ratelimit-policy', `"${row}";q=${count};w=${intervalSeconds}`)
    .header('ratelimit', `"${row}";r=${remaining}${until}`)
}
