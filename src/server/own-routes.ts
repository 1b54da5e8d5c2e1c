/**
 * Calls to routes of the own deployment, for webhooks that name a path.
 *
 * Such a call enters by the front door, like one that the code of a graph makes: with a key that
 * has the rights of the run's user in the namespace of the run, for as long as the call lasts. It
 * is retried like every other webhook. A header limits it to the powers of that key, because a
 * server without keys would take it for a call by its operator.
 */

import type { Env } from '../../cluster/index.ts'
import type { RunKeys } from '../access/index.ts'
import { namespaceParts } from '../deployment/index.ts'
import { hostOf, openEgress, untilAborted } from '../egress/index.ts'
import type { Call, CallOutcome, Egress } from '../egress/index.ts'
import { HeddleError } from '../errors.ts'
import { ownRouteHeader } from '../frontdoor/index.ts'
import type { AppUser } from '../graph/index.ts'
import { plainTarget } from '../limits/index.ts'
import { loopbackRanges, ownVersion } from '../settings/index.ts'

/** Parts of the server that the calls use. */
export interface OwnRoutesOptions {
  readonly env: Env
  readonly runKeys: Pick<RunKeys<AppUser>, 'issue' | 'revoke'>
  /** True if the server requires keys of all callers. */
  readonly needsKeys: boolean
}

/** Addresses of the front door of this member. */
export interface OwnAddresses {
  /** The address of the server's own project. */
  readonly url: string
  /** The address of a deployment. Throws if it has none. */
  urlOfDeployment(name: string): Promise<string>
}

/** Calls routes of deployments through the front door of this member. */
export class OwnRoutes {
  readonly #options: OwnRoutesOptions
  #addresses = Promise.withResolvers<OwnAddresses | undefined>()
  /** A proxy for outgoing calls does not reach this machine, so this way has none. */
  #way: Egress | undefined

  constructor(options: OwnRoutesOptions) {
    this.#options = options
    this.#addresses.promise.catch(() => {})
  }

  /** Sets the addresses; `undefined` if this member serves no clients. Calls wait for it. */
  servedAt(addresses: OwnAddresses | undefined): void {
    this.#way = addresses &&
      openEgress({ env: this.#options.env, version: ownVersion(),
        allowed: [...loopbackRanges, hostOf(new URL(addresses.url))] })
    this.#addresses.resolve(addresses)
  }

  /**
   * The front door of this member closes. Calls that do not reach it any more are not given up:
   * they wait until the next owner of their thread, or the next start of the server, sends them.
   */
  notServed(): void {
    this.#addresses = Promise.withResolvers()
    this.#addresses.promise.catch(() => {})
  }

  /** Sends a call whose `url` is a path. Throws `unavailable` if the deployment has no address. */
  async send(call: Call, signal: AbortSignal): Promise<CallOutcome> {
    const addresses = this.#addresses
    const outcome = await this.#send(call, signal)
    const isClosed = addresses !== this.#addresses
    if (!isClosed || !isOutOfReach(outcome)) return outcome
    return await this.send(call, signal)
  }

  async #send(call: Call, signal: AbortSignal): Promise<CallOutcome> {
    const origin = await this.#originOf(call.tenant, signal)
    if (origin === undefined || this.#way === undefined) {
      return { kind: 'failed', reason: 'this member has no front door, so it serves no routes' }
    }
    if (isOfDeployment(origin + call.url)) {
      return { kind: 'refused', reason: 'it must not name a path below /d' }
    }
    const { runKeys, needsKeys } = this.#options
    const user = call.user as AppUser | undefined
    const key = needsKeys || user !== undefined ? runKeys.issue(call.tenant, user) : undefined
    try {
      return await this.#way.send({ ...call, url: origin + call.url,
        headers: { ...call.headers, [ownRouteHeader]: '1',
          ...key !== undefined && { 'x-api-key': key } }, mayCall: (url) => {
          if (url.origin === origin && !isOfDeployment(url.href)) return
          throw new HeddleError('invalid', 'it must not redirect to another server')
        } }, signal)
    } finally {
      if (key !== undefined) runKeys.revoke(key)
    }
  }

  async close(): Promise<void> {
    // A call that waits for an address is not given up: the next start of the server sends it.
    this.#addresses.reject(new HeddleError('unavailable', 'The server is being stopped.'))
    await this.#way?.close()
  }

  async #originOf(namespace: string, signal: AbortSignal): Promise<string | undefined> {
    const addresses = await untilAborted(signal, () => this.#addresses.promise)
    const { deployment } = namespaceParts(namespace)
    const url = deployment === null
      ? addresses?.url
      : await addresses?.urlOfDeployment(deployment).catch((cause: unknown) => {
        throw new HeddleError('unavailable', 'The deployment has no address on this member.', {}, {
          cause,
        })
      })
    return url && new URL(url).origin
  }
}

/** True if no response came, or only the 503 of a closing front door. */
function isOutOfReach(outcome: CallOutcome): boolean {
  return outcome.kind === 'failed' || outcome.kind === 'answered' && outcome.status === 503
}

/** True for a path below `/d`, where no app has routes. */
function isOfDeployment(url: string): boolean {
  return /^\/d(?:\/|$)/.test(plainTarget(new URL(url).pathname))
}
