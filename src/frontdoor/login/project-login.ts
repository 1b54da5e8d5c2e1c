/**
 * Authentication by the login of a project.
 *
 * A1  Who calls the data of a project that brings a login is found by that login, once for each
 *     request or socket. Its answer holds as long as the request.
 * A2  Keys of Heddle are looked at first. Those of admins and developers of the tenant that owns
 *     the project are its operators, and its handlers are not asked for them. All other keys are
 *     refused.
 * A3  The key of a run goes with the rights of the user who has started the run.
 * A4  A login that cannot be asked lets nobody in.
 */

import type { FastifyRequest } from 'fastify'

import { FairSemaphore } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { hashOf } from '../../access/index.ts'
import type { RunKeys } from '../../access/index.ts'
import { namespaceOf, namespaceParts } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { AppUser, AskedRequest, AuthSettings, ProjectLogin } from '../../graph/index.ts'
import { loginFault, refusalOf } from '../authorise/index.ts'
import { readUser, studioUser } from './app-user.ts'
import type { Caller, Finding, Identity } from '../http/caller.ts'
import type { AddressOf } from '../http/connections/client-address.ts'
import { keyIn } from '../http/identify.ts'
import type { Identify } from '../http/identify.ts'
import { userMayNotCall } from '../http/run-powers.ts'
import { noteLogin } from './issuers.ts'
import { LoginCache } from './login-cache.ts'

/** The login of the project that a request calls. */
export interface CalledLogin {
  readonly settings: Pick<AuthSettings, 'disable_studio_auth' | 'cache' | 'openapi'>
  /** Undefined while it cannot be asked. */
  readonly login: ProjectLogin | undefined
  /** The tenant that owns the project. All users of the login see data of this tenant. */
  readonly tenant: string
  /** True if callers of other tenants may know of the project. */
  readonly isKnown: boolean
  /** False when another login has taken its place: open streams are cut. */
  isCurrent(): boolean
}

/** Finds the login of the project that a request calls; undefined if that brings none. */
export type LoginOf = (
  request: FastifyRequest,
) => Promise<CalledLogin | undefined> | CalledLogin | undefined

/** Parts by which callers are found with the logins of projects. */
export interface ProjectLoginParts {
  /** Authentication without a login. */
  readonly identify: Identify
  /** True if callers need keys: without, nobody is an operator by a key. */
  readonly hasKeys: boolean
  readonly loginOf: LoginOf
  readonly runKeys?: Pick<RunKeys, 'find' | 'userOf'> | undefined
  readonly addressOf: AddressOf
  /** True for a request of this machine to a server that answers on this machine only. */
  readonly isFromHere: (request: FastifyRequest) => boolean
  readonly env: Pick<Env, 'monotonicMs' | 'log'>
}

/** Logins that are asked at once, and requests that wait for that. */
const asked = {
  inAll: 256,
  each: 32,
  waiting: 4_096,
  waitingEach: 256,
  longestYields: true,
  full: 'Too many requests from your address wait for the login of this project: ask again in a ' +
    'moment.',
} as const

/** Finds callers by the logins of projects. */
export class ProjectLogins {
  readonly #parts: ProjectLoginParts
  readonly #turns = new FairSemaphore(asked)
  readonly #caches = new WeakMap<ProjectLogin, LoginCache>()
  readonly #reported = new WeakMap<ProjectLogin, Set<string>>()

  constructor(parts: ProjectLoginParts) {
    this.#parts = parts
  }

  /** Authentication of a request to data. Throws if the login cannot be asked now. */
  async identify(request: FastifyRequest): Promise<Finding> {
    const called = await this.#parts.loginOf(request)
    if (called === undefined) return await this.#parts.identify(request)
    noteLogin(request, called.settings.openapi)
    return await this.#find(request, called)
  }

  async #find(request: FastifyRequest, called: CalledLogin): Promise<Finding> {
    const key = keyIn(request)
    const run = key === undefined ? undefined : this.#parts.runKeys?.find(key)
    if (run !== undefined) return await this.#ofRun(request, { key: key!, namespace: run, called })
    if (key !== undefined && this.#parts.hasKeys) {
      return operator(await this.#parts.identify(request), called)
    }
    if (called.login === undefined) throw cannotBeAsked()
    if (this.#isStudio(request, called)) return this.#finding(studioUser, called, called.login)
    return await this.#authenticate(request, called, called.login)
  }

  /**
   * Finds the caller of the key of a run: its user, or an operator if an operator started it. Only
   * the project of the run accepts it, because another login may know another user by the same
   * name. All runs of a user count as that user, so that a run has no rate limit of its own.
   */
  async #ofRun(request: FastifyRequest, { key, namespace, called }: {
    readonly key: string
    readonly namespace: string
    readonly called: CalledLogin
  }): Promise<Finding> {
    const { runKeys } = this.#parts
    const user = runKeys?.userOf(key) as AppUser | undefined
    const deployment = request.deployment?.name ?? null
    if (namespace !== namespaceOf({ tenant: called.tenant, deployment })) {
      const found = await this.#parts.identify(request)
      // To callers of other tenants, a private project looks like a missing one.
      if (!called.isKnown && namespaceParts(namespace).tenant !== called.tenant) return found
      return { identity: found.identity, refused: userMayNotCall() }
    }
    if (user === undefined) return await this.#parts.identify(request)
    if (called.login === undefined) throw cannotBeAsked()
    const found = this.#finding(user, called, called.login)
    const stillValid = () => runKeys?.find(key) !== undefined
    return { ...found,
      caller: { ...found.caller, ...namespaceParts(runKeys!.find(key)!), stillValid } }
  }

  #isStudio(request: FastifyRequest, { settings }: CalledLogin): boolean {
    return settings.disable_studio_auth === false
      && request.headers['x-auth-scheme'] === 'langsmith' && this.#parts.isFromHere(request)
  }

  async #authenticate(request: FastifyRequest, called: CalledLogin,
    login: ProjectLogin): Promise<Finding> {
    const cache = this.#cacheOf(login, called)
    const key = cache?.keyOf(request.headers)
    const known = key === undefined ? undefined : cache!.get(key)
    if (known !== undefined) return this.#finding(known, called, login)
    const leave = await this.#turns.enter(this.#parts.addressOf(request).text)
    try {
      const answer = await login.authenticate(askedRequest(request))
      if (answer.kind === 'refused') {
        return { identity: { kind: 'nobody' }, refused: refusalOf(answer) }
      }
      const user = this.#read(login, answer.user)
      if (key !== undefined) cache!.set(key, user)
      return this.#finding(user, called, login)
    } finally {
      leave()
    }
  }

  #cacheOf(login: ProjectLogin, { settings: { cache } }: CalledLogin): LoginCache | undefined {
    if (cache === undefined) return undefined
    const kept = this.#caches.get(login) ?? new LoginCache(cache, this.#parts.env)
    this.#caches.set(login, kept)
    return kept
  }

  /** Throws 500 for a user that is none. The reason is logged, each once. */
  #read(login: ProjectLogin, user: unknown): AppUser {
    try {
      return readUser(user)
    } catch (error) {
      const { message: reason } = error as Error
      const reported = this.#reported.get(login) ?? new Set()
      this.#reported.set(login, reported.add(reason))
      if (reported.size === 1) {
        this.#parts.env.log.error('`authenticate` of a project returned no user.', { reason })
      }
      throw loginFault()
    }
  }

  #finding(user: AppUser, { tenant, isCurrent }: CalledLogin, login: ProjectLogin): Finding & {
    readonly caller: Caller
  } {
    const identity: Identity = { kind: 'login', tenant, hash: hashOf(user.identity) }
    return { identity,
      caller: { tenant, role: 'developer', identity, user, login, expiresAtMs: null,
        stillValid: isCurrent } }
  }
}

/** The finding of a key. Keys of others than operators open nothing that a login guards. */
function operator(found: Finding, { tenant, isKnown }: CalledLogin): Finding {
  if ('refused' in found) return found
  const { role, tenant: own } = found.caller
  // What a tenant may not know of is looked for later, and not found.
  if (own !== tenant && !isKnown) return found
  if (own === tenant && (role === 'admin' || role === 'developer')) return found
  return { identity: found.identity, refused: new HeddleError('forbidden', 'The login of this ' +
    'project says who may call it. Of the API keys, only those of admins and developers of the ' +
    'tenant that owns it may, too.') }
}

function cannotBeAsked(): HeddleError {
  return new HeddleError('unavailable',
    'The login of this project cannot be asked right now: ask ' +
      'again in a moment.')
}

/** A request as `authenticate` sees it. Of a deployment, the path is that which its project has. */
function askedRequest({ method, protocol, host, url, headers }: FastifyRequest): AskedRequest {
  return { method, url: `${protocol}://${host}${url}`,
    headers: Object.entries(headers).filter(([name]) => !name.startsWith(':'))
      .flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each] as const)) }
}
