/** The way out, narrowed to the hosts and ports that a project names. */

import { HeddleError } from '../errors.ts'
import type { Egress } from './egress.ts'
import { isOwnRoute, ownRouteFault } from './own-route.ts'
import { hostOf } from './url-rules.ts'

/** Webhooks that a project allows. */
export interface WebhookPolicy {
  /** If false, nothing is called at all. */
  readonly offered: boolean
  /** Sent with every call, to the first origin only. */
  readonly headers: Readonly<Record<string, string>>
  readonly httpsOnly: boolean
  /** Host names, `*.example.org` for those below; empty for any. */
  readonly hosts: readonly string[]
  /** Ports; empty for any. */
  readonly ports: readonly number[]
  readonly longestUrl: number
  /** False if no webhook may name a route of the project. */
  readonly ownRoutes: boolean
}

/** The way out of a project. */
export interface GuardedEgress extends Pick<Egress, 'check' | 'send'> {
  /** False if it calls nothing. */
  offers(): boolean
  /** Throws `invalid`, with the reason, for the path of a route of the project. */
  checkRoute(path: string): void
}

const turnedOff = 'must be left out: `http.disable_webhooks` of langgraph.json turns webhooks off'

/**
 * Narrows the way out. The rules hold for redirects too. They may change: each call reads them
 * anew.
 */
export function withPolicy({ check, send }: Pick<Egress, 'check' | 'send'>,
  rules: () => WebhookPolicy): GuardedEgress {
  const mayCall = (url: URL) => {
    const fault = faultOf(url, rules())
    if (fault !== undefined) throw new HeddleError('invalid', fault)
  }
  return {
    offers: () => rules().offered,
    checkRoute: (path) => {
      const { offered, ownRoutes, longestUrl } = rules()
      const fault = !offered
        ? turnedOff
        : !ownRoutes
        ? 'must be an absolute http(s) URL: `webhooks.url.disable_loopback` of langgraph.json ' +
          'turns off paths of own routes'
        : ownRouteFault(path, longestUrl)
      if (fault !== undefined) throw new HeddleError('invalid', fault)
    },
    check: (text) => {
      const { offered, longestUrl } = rules()
      if (!offered) throw new HeddleError('invalid', turnedOff)
      check(text)
      if (text.length > longestUrl) {
        throw new HeddleError('invalid', `must have ${longestUrl} characters at most`)
      }
      mayCall(new URL(text))
    },
    send: async (call, signal) => {
      const { offered, ownRoutes, headers } = rules()
      // The project may have changed since the webhook was accepted.
      if (!offered || (isOwnRoute(call.url) && !ownRoutes)) {
        return { kind: 'refused', reason: 'the project has turned such webhooks off' }
      }
      return await send({ ...call, mayCall, headers: { ...headers, ...call.headers } }, signal)
    },
  }
}

function faultOf(url: URL, { httpsOnly, hosts, ports }: WebhookPolicy): string | undefined {
  if (httpsOnly && url.protocol !== 'https:') return 'must be an https URL'
  const host = hostOf(url)
  if (hosts.length > 0 && !hosts.some((each) => isBelow(host, each.toLowerCase()))) {
    return `must be at a host that the project names, which ${host} is not`
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const isOpen = ports.length === 0 || ports.includes(port)
  return isOpen ? undefined : `must be at a port that the project names, which ${port} is not`
}

function isBelow(host: string, pattern: string): boolean {
  return pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length
    : host === pattern
}
