/**
 * Check of the pages and names that may call: a web page must not reach the server on its visitor's
 * machine.
 */

import { networkInterfaces } from 'node:os'

import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { readComponentFile } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CorsSettings } from '../../graph/index.ts'
import { fitsHost, ipAddress, isLoopback } from '../../settings/index.ts'
import type { AuthOptions } from '../http/identify.ts'
import { policyOver, usualPolicy } from './cors-policy.ts'
import type { CorsPolicy } from './cors-policy.ts'
import { isForeignLoad } from './fetch-site.ts'

/** Settings that decide which pages and names may call. */
export interface LocalSafetyOptions {
  /** The address that the server listens on. */
  readonly host: string
  /** Origins besides this server's own, `*` for any; by default those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** Host names besides those of this machine by which callers may call, `*` for any. */
  readonly allowHosts?: readonly string[]
  /** Names below this one are of deployments, and may be called as those of `allowHosts`. */
  readonly domain?: string | undefined
  /** Names and patterns of names that the operator gives to deployments. */
  readonly deploymentsHosts?: readonly string[] | undefined
  /** The settings of the project that is called, where they hold; by default there are none. */
  readonly corsOf?: (request: FastifyRequest) => CorsSettings | undefined
  /** Authentication of callers; by default, they are not authenticated. */
  readonly auth?: Pick<AuthOptions, 'isFromTrustedProxy'>
}

/** Refuses pages of other origins and foreign host names. Call before the guard is added. */
export async function keepLocal(app: FastifyInstance, options: LocalSafetyOptions): Promise<void> {
  const usual = usualPolicy(options.allowOrigins)
  const policyOf = (request: FastifyRequest): CorsPolicy => {
    const settings = options.corsOf?.(request)
    return settings === undefined ? usual : policyOver(usual, settings)
  }
  const refusal = nameRefusal(options)
  app.addHook('onRequest', (request, reply, done) => {
    const reason = refusal(request)
    if (reason !== undefined) return done(new HeddleError('forbidden', reason))
    const { origin, 'access-control-request-private-network': isNear } = request.headers
    if (isForPages(request)) return done()
    const policy = policyOf(request)
    if (origin === undefined) {
      if (policy.anyPage || !isForeignLoad(request)) return done()
      return done(new HeddleError('forbidden', 'Pages of other origins may call this server only ' +
        'by fetch with mode cors.'))
    }
    const isAllowed = policy.mayCall(origin)
    // A page of the internet asks whether it may call an address of this network.
    if (isAllowed && isNear === 'true') {
      void reply.header('access-control-allow-private-network', 'true')
    }
    if (isAllowed || isSameOrigin(request, origin)) return done()
    done(new HeddleError('forbidden', `Pages of ${origin} may not call this server: start ` +
      `it with --allow-origin ${origin}, or name it in http.cors of langgraph.json.`))
  })
  // Preflight requests go on to the guard, whose hook comes later, so that limits count them.
  await app.register(cors, { delegator: (request, done) => done(null, policyOf(request).reply) })
}

/** True for files that any page may load that knows their names, which are made of hashes. */
function isForPages({ method, routeOptions: { url } }: FastifyRequest): boolean {
  return method === 'GET' && url === readComponentFile.path
}

/**
 * Finds why a request may not call this server by its host name. A page can point a name of its own
 * at this machine (DNS rebinding). Such a page has no key, so with keys any name is allowed. On a
 * machine of user proxies the page could pose as one of them, so names are checked there.
 */
function nameRefusal(
  { host, allowHosts = [], domain, deploymentsHosts = [], auth }: LocalSafetyOptions,
): (request: FastifyRequest) => string | undefined {
  if (allowHosts.includes('*')) return () => undefined
  const isOurs = nameTest(host, allowHosts, [...deploymentsHosts,
    ...domain === undefined ? [] : [`*.${domain.toLowerCase()}`]])
  // The name of the request before: nearly all requests have the same.
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
        'name of --allow-host.'
      : undefined
  }
}

/** Without keys, this machine's names, its own addresses and the given names are allowed. */
function nameTest(host: string, allowHosts: readonly string[], patterns: readonly string[]): (
  name: string,
) => boolean {
  const given = new Set(allowHosts.map((each) => nameIn(`http://${bracketed(each)}`)))
  return (name) =>
    isLoopback(name) || given.has(name) ||
    patterns.some((pattern) => fitsHost(name, pattern)) ||
    (!isLoopback(host) && isOwnAddress(name))
}

function refusalOf(host: string, name: string): string {
  return isLoopback(host)
    ? 'This server is for this machine only: call it as localhost or 127.0.0.1, or start it with ' +
      '--auth keys.'
    : 'Without keys, this server may be called only as localhost, by an address of its machine, ' +
      `or by a name of --allow-host: start it with --allow-host ${name}, or with --auth keys.`
}

/** True for an address of this machine. An address cannot be redirected, as a name can. */
function isOwnAddress(name: string): boolean {
  const address = ipAddress(name.replace(/^\[(.*)\]$/, '$1'))?.toString()
  if (address === undefined) return false
  if (address === '0.0.0.0' || address === '::') return true
  return Object.values(networkInterfaces()).some((each) =>
    each?.some((own) => ipAddress(own.address)?.toString() === address)
  )
}

/** True if a browser on this machine may have made the connection. */
function comesFromHere({ socket }: FastifyRequest, host: string): boolean {
  return isLoopback(host) || isLoopback(socket.remoteAddress?.replace(/^::ffff:/, '') ?? '')
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function isSameOrigin(request: FastifyRequest, origin: string): boolean {
  return origin.replace(/^https?:\/\//, '') === authorityOf(request)
}

function authorityOf({ headers }: FastifyRequest): string {
  return headers.host ?? String(headers[':authority'] ?? '')
}

/** The host name by which a request calls this server, without the port. */
export function hostOf(request: FastifyRequest): string {
  return nameIn(`http://${authorityOf(request)}`)
}

/** The host name of a URL, without the port; empty if there is none. */
function nameIn(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}
