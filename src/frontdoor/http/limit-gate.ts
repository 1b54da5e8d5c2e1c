/**
 * Rate limiting: each request is charged to one limit before anything is done for it, and one to a
 * deployment to that of the deployment as well.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { hashOf } from '../../access/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { deploymentCharge, requestPath, rowMatcher, tenantOfNamespace } from '../../limits/index.ts'
import type { Charge, ChargedLimit, LimitClients, LimitIdentity, LimitKey, RateLimit,
  RefusedCallers, RefusedName } from '../../limits/index.ts'
import type { Caller, Finding, Identity } from './caller.ts'
import type { Address, AddressOf } from './connections/client-address.ts'
import type { Limit } from './guard.ts'
import { quotaHeaders } from './quota-headers.ts'
import type { LimitDetails } from './quota-headers.ts'

/** A request to this path costs nothing to answer. That of a deployment may have to look for it. */
const livenessUrl = '/ok'

/** Callers that are known see their limits without a charge. Made-up keys are charged here, too. */
const ownLimitsUrl = '/limits'

/** Files of a page are more than the catch-all allows in a minute, and say nothing of anyone. */
const isPage = (url: string) => url === '/' || /^\/studio(?:\/|$)/.test(url)

/** Clients that count requests, and the finder of a request's address. */
export interface GateOptions {
  readonly clients: Pick<LimitClients, 'charge'>
  readonly addressOf: AddressOf
  /** Record in which refusals are noted; by default, they are not. */
  readonly refused?: Pick<RefusedCallers, 'note'>
}

/** The limits, and who counts them. */
export interface LimitGateOptions extends GateOptions {
  /** The limits. `rowMatcher` finds the one that is charged for a request. */
  readonly rows: readonly RateLimit[]
}

/** Makes the gate. It throws `limited`, and `unavailable` if a limit cannot be kept for sure. */
export function limitGate({ rows, ...options }: LimitGateOptions): Limit {
  const { addressOf } = options
  const rowOf = rowMatcher(rows)
  const catchAll = rows.find(({ name }) => name === 'catch-all')!
  const charge = (limit: RateLimit, subject: string, finding: Finding, address: Address) =>
    charged(options, { limit, subject }, (key) => {
      const tenant = 'caller' in finding ? tenantOfNamespace(finding.caller.tenant) : ''
      options.refused?.note(tenant, key, nameOf(finding.identity, address))
    })
  return async (request, finding, reply) => {
    // Health checks of many members come from one address, and need no store.
    const isServer = request.deployment === undefined
    if (isServer && request.url === livenessUrl) return
    if (isServer && request.method === 'GET') {
      if (request.url === ownLimitsUrl && 'caller' in finding) return
      if (isPage(request.url)) return
    }
    const address = addressOf(request)
    const claim = claimOf(finding.identity, request)
    const { key, user, known } = claim
    const limit = rowOf({ method: request.method, path: requestPath(request.url),
      key: key !== undefined, user: user !== undefined })
    // Made-up keys are stopped here, so that they create no counters.
    if (!known) await charge(catchAll, address.hash, finding, address)
    const subject = subjectOf(limit, claim, address)!
    quotaHeaders(reply, detailsOf(limit), await charge(limit, subject, finding, address))
  }
}

/** Charges a request to the deployment that it calls, whoever calls. Throws `limited`. */
export type ChargeDeployment = (request: FastifyRequest, reply: FastifyReply, called: {
  readonly caller: Caller
  readonly deployment: Pick<Deployment, 'id' | 'limits'>
  /** True if nobody is asked who calls: such requests have a counter of their own. */
  readonly isOpen?: boolean
}) => Promise<void>

/** Makes the gate of deployments. */
export function deploymentGate(options: GateOptions): ChargeDeployment {
  return async (request, reply, called) => {
    const { caller, deployment: { id, limits: { requests } }, isOpen = false } = called
    if (requests === null) return
    const charge = deploymentCharge(isOpen ? `${id}/open` : id, { count: requests.count,
      intervalMs: requests.interval_s * 1_000 })
    const remaining = await charged(options, charge, ({ row, who }) => {
      const name = nameOf(caller.identity, options.addressOf(request))
      // Callers share the counter. Each is noted by itself.
      options.refused?.note(caller.tenant, { row, who: `${who} ${JSON.stringify(name)}` }, name)
    })
    quotaHeaders(reply, detailsOf(charge.limit), remaining)
  }
}

/** The tokens that are left. Throws `limited`, after `note` got the key of the counter. */
async function charged({ clients }: GateOptions, { limit, subject }: Charge,
  note: (key: LimitKey) => void): Promise<number> {
  const verdict = clients.charge(limit, subject)
  const { admitted, remaining, waitMs } = verdict instanceof Promise ? await verdict : verdict
  if (admitted) return remaining
  note({ row: limit.name, who: subject })
  throw limited(limit, waitMs)
}

/** For whom limits count, by what they tell callers apart by. */
export type LimitSubjects = Readonly<Record<LimitIdentity, string | undefined>>

/** Whom limits count the requests of a caller for; undefined where a limit is not for it. */
export function limitSubjects(request: FastifyRequest, addressOf: AddressOf): LimitSubjects {
  const [address, claim] = [addressOf(request), claimOf(request.caller.identity, request)]
  const of = (identity: LimitIdentity) => subjectOf({ identity }, claim, address)
  return { 'IP': of('IP'), 'x-api-key': of('x-api-key'), 'x-user-id + IP': of('x-user-id + IP') }
}

function subjectOf({ identity }: Pick<RateLimit, 'identity'>, { key, user }: Claim,
  address: Address): string | undefined {
  if (identity === 'IP') return address.hash
  if (identity === 'x-api-key') return key
  return user === undefined ? undefined : hashOf(`${user}\n${address.text}`)
}

function nameOf(identity: Identity, { text: address }: Address): RefusedName {
  if (identity.kind === 'user') return { user: identity.id }
  if (identity.kind === 'login') return { user: identity.hash }
  return identity.kind === 'key' && identity.id !== undefined ? { keyId: identity.id } : { address }
}

/** Key or user that a request claims to be from; neither for an anonymous caller. */
interface Claim {
  /** SHA-256 of a key, in hex. */
  readonly key?: string | undefined
  readonly user?: string | undefined
  /** False for a key that may be made up. The catch-all is charged for it first. */
  readonly known: boolean
}

const nobody: Claim = { known: true }

/** Claim that a request is charged to. Without authentication, keys and users are taken as sent. */
function claimOf(identity: Identity, { headers }: FastifyRequest): Claim {
  switch (identity.kind) {
    case 'key':
      return { key: identity.hash, known: identity.id !== undefined }
    case 'user':
      return { user: `${identity.tenant}\n${identity.id}`, known: true }
    case 'login':
      return { user: `login\n${identity.tenant}\n${identity.hash}`, known: true }
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

function detailsOf({ name, count, intervalMs }: ChargedLimit): LimitDetails {
  return { row: name, count, intervalSeconds: intervalMs / 1_000 }
}

function limited(rateLimit: ChargedLimit, waitMs: number): HeddleError {
  const limit = detailsOf(rateLimit)
  const { intervalSeconds } = limit
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new HeddleError('limited', `More than ${limit.count} requests in ${intervalSeconds} ` +
    `seconds, which is the limit for ${rateLimit.category}: ask again in ${retryAfterSeconds} s.`, {
    limit,
    retryAfterSeconds,
  })
}
