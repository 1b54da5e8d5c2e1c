/** Rate limiting: each request is charged to one limit before anything is done for it. */

import type { FastifyRequest } from 'fastify'

import { hashOf } from '../../access/index.ts'
import { HeddleError } from '../../errors.ts'
import { requestPath, rowMatcher } from '../../limits/index.ts'
import type { LimitClients, RateLimit } from '../../limits/index.ts'
import type { Identity } from './caller.ts'
import type { AddressOf } from './client-address.ts'
import type { Limit } from './guard.ts'
import { quotaHeaders } from './quota-headers.ts'
import type { LimitDetails } from './quota-headers.ts'

/** A request to this path costs nothing to answer. */
const livenessUrl = '/ok'

/** Files of a page are more than the catch-all allows in a minute, and say nothing of anyone. */
const isPage = (url: string) => url === '/' || /^\/studio(?:\/|$)/.test(url)

/** The limits, who counts them, and how the address of a request is found. */
export interface LimitGateOptions {
  /** The limits. `rowMatcher` finds the one that is charged for a request. */
  readonly rows: readonly RateLimit[]
  readonly clients: Pick<LimitClients, 'charge'>
  readonly addressOf: AddressOf
}

/** Makes the gate. It throws `limited`, and `unavailable` if a limit cannot be kept for sure. */
export function limitGate({ rows, clients, addressOf }: LimitGateOptions): Limit {
  const rowOf = rowMatcher(rows)
  const catchAll = rows.find(({ name }) => name === 'catch-all')!
  const charge = async (limit: RateLimit, subject: string): Promise<number> => {
    const verdict = clients.charge(limit, subject)
    const { admitted, remaining, waitMs } = verdict instanceof Promise ? await verdict : verdict
    if (admitted) return remaining
    throw limited(limit, waitMs)
  }
  return async (request, { identity }, reply) => {
    // Health checks of many members come from one address, and need no store.
    if (request.url === livenessUrl) return
    if (request.method === 'GET' && isPage(request.url)) return
    const address = addressOf(request)
    const { key, user, known } = callerOf(identity, request)
    const limit = rowOf({ method: request.method, path: requestPath(request.url),
      key: key !== undefined, user: user !== undefined })
    // Made-up keys are stopped here, so that they create no counters.
    if (!known) await charge(catchAll, address.hash)
    const subject = limit.identity === 'IP' ? address.hash : limit.identity === 'x-api-key'
      ? key!
      : hashOf(`${user}\n${address.text}`)
    quotaHeaders(reply, detailsOf(limit), await charge(limit, subject))
  }
}

/** Who a request claims to be from. */
interface Caller {
  /** SHA-256 of a key, in hex. */
  readonly key?: string | undefined
  readonly user?: string | undefined
  /** False for a key that may be made up. The catch-all is charged for it first. */
  readonly known: boolean
}

const nobody: Caller = { known: true }

/** Who a request is charged to. Without authentication, keys and users are taken as sent. */
function callerOf(identity: Identity, { headers }: FastifyRequest): Caller {
  switch (identity.kind) {
    case 'key':
      return { key: identity.hash, known: identity.known }
    case 'user':
      return { user: `${identity.tenant}\n${identity.id}`, known: true }
    case 'nobody':
      return nobody
    case 'local': {
      const key = namedIn(headers['x-api-key'])
      return { key: key === undefined ? undefined : hashOf(key), known: true,
        user: namedIn(headers['x-user-id']) }
    }
  }
}

/** The first value of a header, cut to its longest length; undefined if blank. */
function namedIn(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const [first = ''] = String(header).split(',')
  return first.trim().slice(0, longestName) || undefined
}

const longestName = 128

function detailsOf({ name, count, intervalMs }: RateLimit): LimitDetails {
  return { row: name, count, intervalSeconds: intervalMs / 1_000 }
}

function limited(rateLimit: RateLimit, waitMs: number): HeddleError {
  const limit = detailsOf(rateLimit)
  const { intervalSeconds } = limit
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new HeddleError('limited', `More than ${limit.count} requests in ${intervalSeconds} ` +
    `seconds, which is the limit for ${rateLimit.category}: ask again in ${retryAfterSeconds} s.`, {
    limit,
    retryAfterSeconds,
  })
}
