/** Requests that apps handle now. By their keys they come back, and call in the caller's name. */

import type { IncomingMessage } from 'node:http'

import type { FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { appHeaders } from '../../graph/index.ts'
import type { CalledDeployment, Finding } from '../http/caller.ts'
import type { Identify } from '../http/identify.ts'
import type { App } from '../http/route.ts'

/** A request that was passed to an app. */
export interface PassedRequest {
  /** Undefined for the server's own project. */
  readonly deployment: CalledDeployment | undefined
  /** The other end of the client's connection. */
  readonly remoteAddress: string | undefined
  /** The caller as the server found it before the app; undefined if it was not asked for. */
  readonly found: FoundBy | undefined
  /** Finds the caller that the credentials of the request name, once for each way. */
  identify(source: CallerSource): Promise<Finding>
}

/** A finding, and the way in which it was found. */
export interface FoundBy {
  readonly source: CallerSource
  readonly finding: Finding
}

/**
 * login  by the login of the project, if it has one: for the data of projects
 * keys   by the keys of the server: for all other routes. A user of a login is not known there
 */
export type CallerSource = 'login' | 'keys'

/** Authentication in each way, and the way of a request. */
export interface CallerSources extends Readonly<Record<CallerSource, Identify>> {
  readonly sourceOf: (request: FastifyRequest) => CallerSource
}

/** Parts of a request that is passed on. */
export interface PassedOptions {
  readonly request: FastifyRequest
  readonly found: FoundBy | undefined
}

/** Form of the keys by which code of an app calls its own server. */
const keyPrefix = 'hdl_app_'

/** The requests of one front door. Their keys are in memory only. */
export class PassedRequests {
  readonly #env: Pick<Env, 'secret'>
  readonly #sources: CallerSources
  readonly #passed = new Map<string, PassedRequest>()
  /** Secrets of requests that may come back, once each. */
  readonly #awaited = new Set<string>()
  readonly #returned = new WeakMap<object, PassedRequest>()

  constructor(env: Pick<Env, 'secret'>, sources: CallerSources) {
    this.#env = env
    this.#sources = sources
  }

  /**
   * Gives each request that comes back the deployment that it called: its path does not say that
   * any more. Call before whatever goes by the settings of a project.
   */
  addTo(app: App): void {
    app.addHook('onRequest', (request, _reply, done) => {
      const before = this.before(request)
      if (before !== undefined) request.deployment = before.deployment
      done()
    })
  }

  /** Number of requests that apps handle now. */
  get count(): number {
    return this.#passed.size
  }

  /** Notes a request. Returns its secret, which is valid until `end`. */
  add({ request, found }: PassedOptions): string {
    const secret = this.#env.secret()
    const findings = new Map<CallerSource, Promise<Finding>>()
    if (found) findings.set(found.source, Promise.resolve(found.finding))
    this.#passed.set(secret, {
      deployment: request.deployment,
      remoteAddress: request.socket.remoteAddress,
      found,
      identify: (source) => {
        const finding = findings.get(source)
          ?? this.ofKey(request)?.identify(source) ?? this.#sources[source](request)
        findings.set(source, finding)
        return finding
      },
    })
    this.#awaited.add(secret)
    return secret
  }

  end(secret: string): void {
    this.#passed.delete(secret)
    this.#awaited.delete(secret)
  }

  /**
   * Takes a request back that its app did not answer. False for one that nobody passed on, or that
   * came back before. It counts as from the address of its client.
   */
  takeBack(raw: IncomingMessage): boolean {
    const secret = String(raw.headers[appHeaders.back] ?? '')
    delete raw.headers[appHeaders.back]
    const passed = this.#awaited.delete(secret) ? this.#passed.get(secret) : undefined
    if (passed === undefined) return false
    this.#returned.set(raw, passed)
    // Of the requests on a connection, one is under way at a time.
    Object.defineProperty(raw.socket, 'remoteAddress', { value: passed.remoteAddress,
      configurable: true })
    return true
  }

  /** The request as it was before its app; undefined for one that comes from a client. */
  before({ raw }: Pick<FastifyRequest, 'raw'>): PassedRequest | undefined {
    return this.#returned.get(raw)
  }

  /** The finding before the app, if this route finds callers in the same way. */
  findingOf(request: FastifyRequest): Finding | undefined {
    const found = this.before(request)?.found
    return found?.source === this.#sources.sourceOf(request) ? found.finding : undefined
  }

  /** True if the caller was found, and its place charged, before the app. */
  isPlaced(request: FastifyRequest): boolean {
    return this.before(request)?.found !== undefined
  }

  /**
   * Finds the caller of an app's own key in the way of this route: the key opens nothing that the
   * credentials of its request do not open. Returns undefined if the request has no such key.
   */
  identify(request: FastifyRequest): Promise<Finding> | undefined {
    return this.ofKey(request)?.identify(this.#sources.sourceOf(request))
  }

  /** The request whose code calls by its key; undefined for any other caller. */
  ofKey({ headers, deployment }: FastifyRequest): PassedRequest | undefined {
    const key = headers['x-api-key']
    if (typeof key !== 'string' || !key.startsWith(keyPrefix)) return undefined
    const passed = this.#passed.get(key.slice(keyPrefix.length))
    return passed?.deployment?.name === deployment?.name ? passed : undefined
  }
}

/** The key with which code that handles the request of this secret calls its own server. */
export function ownKeyOf(secret: string): string {
  return keyPrefix + secret
}
