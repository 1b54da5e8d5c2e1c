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

/**
 * Sets how much is left and, on a refused request, the seconds until there is more. A request may
 * be charged to several limits: each has its own entry.
 */
export function quotaHeaders(reply: FastifyReply, { row, count, intervalSeconds }: LimitDetails,
  remaining: number, retryAfterSeconds?: string): void {
  const until = retryAfterSeconds === undefined ? '' : `;t=${retryAfterSeconds}`
  setEntry(reply, 'ratelimit-policy', row, `q=${count};w=${intervalSeconds}`)
  setEntry(reply, 'ratelimit', row, `r=${remaining}${until}`)
}

function setEntry(reply: FastifyReply, header: string, row: string, values: string): void {
  const before = reply.getHeader(header)
  const others = typeof before === 'string' ? before.split(', ') : []
  const kept = others.filter((each) => !each.startsWith(`"${row}";`))
  void reply.header(header, [...kept, `"${row}";${values}`].join(', '))
}
