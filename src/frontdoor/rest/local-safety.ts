/** Who may call: a web page must not reach the server on the machine of its visitor. */

import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { isLoopback } from '../../ip-address.ts'
import type { AuthOptions } from '../identify.ts'

export interface LocalSafetyOptions {
  /** The address that the server listens on. */
  readonly host: string
  /** Origins besides this server's own, `*` for any; by default those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** How callers are authenticated; by default, not at all. */
  readonly auth?: Pick<AuthOptions, 'isFromTrustedProxy'>
}

/** Headers that clients read; browsers hide all others from them. */
const exposedHeaders = ['Content-Location', 'Location', 'X-Pagination-Total', 'X-Pagination-Next',
  'X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate',
  'Grpc-Status', 'Grpc-Message', 'Grpc-Status-Details-Bin']

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export async function keepLocal(app: FastifyInstance, options: LocalSafetyOptions): Promise<void> {
  const mayCall = originTest(options.allowOrigins)
  const refusal = nameRefusal(options)
  app.addHook('onRequest', (request, _reply, done) => {
    const sentence = refusal(request)
    if (sentence !== undefined) return done(new HeddleError('forbidden', sentence))
    const { origin } = request.headers
    if (origin === undefined || mayCall(origin) || isSameOrigin(request, origin)) return done()
    done(new HeddleError('forbidden', `Pages of ${origin} may not call this server: start ` +
      `it with --allow-origin ${origin}.`))
  })
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && mayCall(origin)),
    // Preflight requests go on to the guard, whose hook comes later, so that limits count them.
    methods, exposedHeaders, maxAge: 600, preflightContinue: true,
  })
}

/**
 * Why a request may not call this server by that name. A page can lead a name of its own to this
 * machine. It has no key, so that proxies may pass on any name; but it may pose as a proxy here.
 */
function nameRefusal({ host, auth }: LocalSafetyOptions):
(request: FastifyRequest) => string | undefined {
  if (!isLoopback(host)) return () => undefined
  // Nearly all requests call it as the one before did.
  let known: string | undefined
  return (request) => {
    const authority = authorityOf(request)
    if (authority === known) return undefined
    if (isLoopback(hostOf(request))) {
      known = authority
      return undefined
    }
    if (auth === undefined) {
      return 'This server is for this machine only: call it as localhost or 127.0.0.1, or start ' +
        'it with --auth keys.'
    }
    return auth.isFromTrustedProxy?.(request)
      ? 'A user proxy on this machine must call this server as localhost or 127.0.0.1.' : undefined
  }
}

function originTest(allowed: readonly string[] | undefined): (origin: string) => boolean {
  if (allowed === undefined) return (origin) => isLoopback(nameIn(origin))
  if (allowed.includes('*')) return () => true
  const known = new Set(allowed)
  return (origin) => known.has(origin)
}

function isSameOrigin(request: FastifyRequest, origin: string): boolean {
  return origin.replace(/^https?:\/\//, '') === authorityOf(request)
}

function authorityOf({ headers }: FastifyRequest): string {
  return headers.host ?? String(headers[':authority'] ?? '')
}

/** The name by which a request calls this server. */
export function hostOf(request: FastifyRequest): string {
  return nameIn(`http://${authorityOf(request)}`)
}

/** The host name of a URL without its port; empty if there is none. */
function nameIn(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}
