/** Decides which web pages may call, by `--allow-origin` and `http.cors` of a project. Pure. */

import type { FastifyCorsOptions } from '@fastify/cors'

import { originPattern } from '../../graph/index.ts'
import type { CorsSettings } from '../../graph/index.ts'
import { isLoopback } from '../../settings/index.ts'

/** Decides which pages may call, and what browsers learn of it. */
export interface CorsPolicy {
  mayCall(origin: string): boolean
  /** True if pages of any origin may call. */
  readonly anyPage: boolean
  readonly reply: FastifyCorsOptions
}

/** The policy of a server, whose operator may have named origins. */
export interface UsualPolicy extends CorsPolicy {
  /** True for an origin that the operator has named. */
  isNamed(origin: string): boolean
}

/** Characters of an origin that a pattern is tried on. */
const originCharactersMax = 2_048

/** Headers that pages may read. Browsers hide all others. */
const exposedHeaders = ['Content-Location', 'Location', 'X-Pagination-Total', 'X-Pagination-Next',
  'X-Pagination-Cursor', 'X-Heddle-Warning', 'Mcp-Session-Id', 'X-Request-Id', 'Retry-After',
  'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate', 'Grpc-Status', 'Grpc-Message',
  'Grpc-Status-Details-Bin']

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Headers that browsers send to other origins without being allowed to. */
const harmless = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type']

/** The policy of origins that the operator names; of pages of this machine if none are. */
export function usualPolicy(named: readonly string[] | undefined): UsualPolicy {
  const known = new Set(named)
  const anyPage = known.has('*')
  const isNamed = (origin: string) => anyPage || known.has(origin)
  const mayCall = named === undefined ? isOfThisMachine : isNamed
  return { anyPage, isNamed, mayCall,
    reply: { ...always, origin: originsBy(mayCall), methods, exposedHeaders, maxAge: 600 } }
}

const policies = new WeakMap<CorsSettings, CorsPolicy>()

/**
 * The policy of a project's routes. If it names origins, they replace the pages of this machine;
 * those that the operator has named may call in any case.
 */
export function policyOver(usual: UsualPolicy, settings: CorsSettings): CorsPolicy {
  const known = policies.get(settings)
  if (known !== undefined) return known
  const policy = policyOf(usual, settings)
  policies.set(settings, policy)
  return policy
}

function policyOf(usual: UsualPolicy, settings: CorsSettings): CorsPolicy {
  const { allow_origins: origins, allow_origin_regex: regex } = settings
  const asks = origins !== undefined || regex !== undefined
  const known = new Set(origins)
  const pattern = regex === undefined ? undefined : originPattern(regex)
  const anyPage = usual.anyPage || known.has('*')
  const isFound = (origin: string) =>
    anyPage || known.has(origin) || usual.isNamed(origin) ||
    (origin.length <= originCharactersMax && pattern?.test(origin) === true)
  const mayCall = asks ? isFound : usual.mayCall
  return { anyPage, mayCall, reply: replyOf(settings, mayCall) }
}

/** Preflight requests are answered later, by the route for them. */
const always = { preflightContinue: true } as const

function replyOf(
  { allow_methods, allow_headers, allow_credentials, expose_headers = [], max_age }: CorsSettings,
  mayCall: CorsPolicy['mayCall'],
): FastifyCorsOptions {
  const anyHeader = allow_headers?.includes('*') ?? true
  return {
    ...always,
    origin: originsBy(mayCall),
    methods: allow_methods === undefined || allow_methods.includes('*')
      ? methods
      : allow_methods.map((method) => method.toUpperCase()),
    // Without a list, what the page asks for is allowed.
    ...!anyHeader && { allowedHeaders: [...harmless, ...allow_headers!] },
    exposedHeaders: [...new Set([...exposedHeaders, ...expose_headers])],
    credentials: allow_credentials ?? false,
    maxAge: max_age ?? 600,
  }
}

function originsBy(mayCall: CorsPolicy['mayCall']): NonNullable<FastifyCorsOptions['origin']> {
  return (origin, done) => done(null, origin !== undefined && mayCall(origin))
}

function isOfThisMachine(origin: string): boolean {
  return isLoopback(URL.parse(origin)?.hostname ?? '')
}
