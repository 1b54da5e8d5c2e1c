/** Who may call: a web page must not reach the server on the machine of its visitor. */

import { networkInterfaces } from 'node:os'

import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { ipAddress, isLoopback } from '../../settings/index.ts'
import type { AuthOptions } from '../http/identify.ts'
import { isForeignLoad } from './fetch-site.ts'

export interface LocalSafetyOptions {
  /** The address that the server listens on. */
  readonly host: string
  /** Origins besides this server's own, `*` for any; by default those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** Names besides those of this machine by which callers may call, `*` for any. */
  readonly allowHosts?: readonly string[]
  /** How callers are authenticated; by default, not at all. */
  readonly auth?: Pick<AuthOptions, 'isFromTrustedProxy'>
}

/** Headers that clients read; browsers hide all others from them. */
const exposedHeaders = ['Content-Location', 'Location', 'X-Pagination-Total', 'X-Pagination-Next',
  'X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate', 'Grpc-Status',
  'Grpc-Message', 'Grpc-Status-Details-Bin']

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export async function keepLocal(app: FastifyInstance, options: LocalSafetyOptions): Promise<void> {
  const mayCall = originTest(options.allowOrigins)
  const anyPageMayCall = options.allowOrigins?.includes('*') ?? false
  const refusal = nameRefusal(options)
  app.addHook('onRequest', (request, _reply, done) => {
    const reason = refusal(request)
    if (reason !== undefined) return done(new HeddleError('forbidden', reason))
    const { origin } = request.headers
    if (origin === undefined) {
      if (anyPageMayCall || !isForeignLoad(request)) return done()
      return done(new HeddleError('forbidden', 'Pages of other origins may call this server only ' +
        'by fetch with mode cors.'))
    }
    if (mayCall(origin) || isSameOrigin(request, origin)) return done()
    done(new HeddleError('forbidden', `Pages of ${origin} may not call this server: start ` +
      `it with --allow-origin ${origin}.`))
  })
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && mayCall(origin)),
    // Preflight requests continue to the guard, whose hook comes later, so that limits count them.
    methods,
    exposedHeaders,
    maxAge: 600,
    preflightContinue: true,
  })
}

/**
 * Why a request may not call this server by that name. A page can lead a name of its own to this
 * machine (DNS rebinding). It has no key, so with keys any name will do; but from a machine of
 * user proxies it may pose as one of them.
 */
function nameRefusal(
  { host, allowHosts = [], auth }: LocalSafetyOptions,
): (request: FastifyRequest) => string | undefined {
  if (allowHosts.includes('*')) return () => undefined
  const isOurs = nameTest(host, allowHosts)
  // Nearly all requests call it as the one before did.
  let known: string | undefined
  return (request) => {
    const authority = authorityOf(request)
    if (authority === known) return undefined
    const name = hostOf(request)
    if (isOurs(name)) {
      known = authority
      return undefined
    }
    if (auth === undefined) return refusalOf(host, name)
    return comesFromHere(request, host) && auth.isFromTrustedProxy?.(request)
      ? 'A user proxy on this machine must call this server as localhost or 127.0.0.1, or by a ' +
        'name of --allow-host.' :
      undefined
  }
}

/** Without keys, it may be called by names of this machine, its own addresses, and names given. */
function nameTest(host: string, allowHosts: readonly string[]): (name: string) => boolean {
  const given = new Set(allowHosts.map((each) => nameIn(`http://${bracketed(each)}`)))
  return (name) =>
    isLoopback(name) || given.has(name) ||
    (!isLoopback(host) && isOwnAddress(name))
}

function refusalOf(host: string, name: string): string {
  return isLoopback(host)
    ? 'This server is for this machine only: call it as localhost or 127.0.0.1, or start it with ' +
      '--auth keys.'
    : 'Without keys, this server may be called only as localhost, by an address of its machine, ' +
      `or by a name of --allow-host: start it with --allow-host ${name}, or with --auth keys.`
}

/** An address cannot be led elsewhere, as a name can; it need only be one of this machine. */
function isOwnAddress(name: string): boolean {
  const address = ipAddress(name.replace(/^\[(.*)\]$/, '$1'))?.toString()
  if (address === undefined) return false
  if (address === '0.0.0.0' || address === '::') return true
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((own) => ipAddress(own.address)?.toString() === address)
  )
}

/** Whether a browser on this machine could have made the connection of a request. */
function comesFromHere({ socket }: FastifyRequest, host: string): boolean {
  return isLoopback(host) || isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
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
