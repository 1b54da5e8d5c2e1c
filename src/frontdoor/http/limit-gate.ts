/** Rate limiting: each request is charged to one limit before anything is done for it. */

import type { FastifyRequest } from 'fastify'

import { hashOf } from '../../access/index.ts'
import { HeddleError } from '../../errors.ts'
import { requestPath, rowMatcher, tenantOfNamespace } from '../../limits/index.ts'
import type { LimitClients, LimitIdentity, RateLimit, RefusedCallers,
  RefusedName } from '../../limits/index.ts'
import type { Finding, Identity } from './caller.ts'
import type { Address, AddressOf } from './client-address.ts'
import type { Limit } from './guard.ts'
import { quotaHeaders } from './quota-headers.ts'
import type { LimitDetails } from './quota-headers.ts'

/** A request to this path costs nothing to answer. That of a deployment may have to look for it. */
const livenessUrl = '/ok'

/** Callers that are known see their limits without a charge. Made-up keys are charged here, too. */
const ownLimitsUrl = '/limits'

/** Files of a page are more than the catch-all allows in a minute, and say nothing of anyone. */
const isPage = (url: string) => url === '/' || /^\/studio(?:\/|$)/.test(url)

/** The limits, who counts them, and how the address of a request is found. */
export interface LimitGateOptions {
  /** The limits. `rowMatcher` finds the one that is charged for a request. */
  readonly rows: readonly RateLimit[]
  readonly clients: Pick<LimitClients, 'charge'>
  readonly addressOf: AddressOf
  /** Where refusals are noted; by default, they are not. */
  readonly refused?: Pick<RefusedCallers, 'note'>
}

/** Makes the gate. It throws `limited`, and `unavailable` if a limit cannot be kept for sure. */
export function limitGate({ rows, clients, addressOf, refused }: LimitGateOptions): Limit {
  const rowOf = rowMatcher(rows)
  const catchAll = rows.find(({ name }) => name === 'catch-all')!
  const charge = async (limit: RateLimit, subject: string, finding: Finding,
    address: Address): Promise<number> => {
    const verdict = clients.charge(limit, subject)
    const { admitted, remaining, waitMs } = verdict instanceof Promise ? await verdict : verdict
    if (admitted) return remaining
    refused?.note('caller' in finding ? tenantOfNamespace(finding.caller.tenant) : '', {
      row: limit.name,
      who: subject,
    }, nameOf(finding.identity, address))
    throw limited(limit, waitMs)
  }
  return async (request, finding, reply) => {
    // Health checks of many members come from one address, and need no store.
    const isServer = request.deployment === undefined
    if (isServer && request.url === livenessUrl) return
    if (isServer && request.method === 'GET') {
      if (request.url === ownLimitsUrl && 'caller' in finding) return
      if (isPage(request.url)) return
    }
    const address = addressOf(request)
    const caller = callerOf(finding.identity, request)
    const { key, user, known } = caller
    const limit = rowOf({ method: request.method, path: requestPath(request.url),
      key: key !== undefined, user: user !== undefined })
    // Made-up keys are stopped here, so that they create no counters.
    if (!known) await charge(catchAll, address.hash, finding, address)
    const subject = subjectOf(limit, caller, address)!
    quotaHeaders(reply, detailsOf(limit), await charge(limit, subject, finding, address))
  }
}

/** For whom limits count, by what they tell callers apart by. */
export type LimitSubjects = Readonly<Record<LimitIdentity, string | undefined>>

/** Whom limits count the requests of a caller for; undefined where a limit is not for it. */
export function limitSubjects(request: FastifyRequest, addressOf: AddressOf): LimitSubjects {
  const [address, caller] = [addressOf(request), callerOf(request.caller.identity, request)]
  const of = (identity: LimitIdentity) => subjectOf({ identity }, caller, address)
  return { 'IP': of('IP'), 'x-api-key': of('x-api-key'), 'x-user-id + IP': of('x-user-id + IP') }
}

function subjectOf({ identity }: Pick<RateLimit, 'identity'>, { key, user }: Caller,
  address: Address): string | undefined {
  if (identity === 'IP') return address.hash
  if (identity === 'x-api-key') return key
  return user === undefined ? undefined : hashOf(`${user}\n${address.text}`)
}

function nameOf(identity: Identity, { text: address }: Address): RefusedName {
  if (identity.kind === 'user') return { user: identity.id }
  return identity.kind === 'key' && identity.id !== undefined ? { keyId: identity.id } : { address }
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
      return { key: identity.hash, known: identity.id !== undefined }
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
