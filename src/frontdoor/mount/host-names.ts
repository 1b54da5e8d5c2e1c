/** The deployment that a host name stands for: a host of its own, or a name below the domain. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Called, MountParts } from './mount-parts.ts'

/** Authorities whose host name is known. Clients may make up any. */
const authoritiesKept = 1_000

/** Reads the host name by which the client of a request called. */
export type HostReader = (request: Called) => string

/** Makes a reader that remembers names: nearly all requests have the same one. */
export function hostReader(isFromProxy: MountParts['isFromProxy'] = () => false): HostReader {
  const known = new LRUCache<string, string>({ max: authoritiesKept })
  return (request) => {
    const authority = calledAuthority(request, isFromProxy)
    const before = known.get(authority)
    if (before !== undefined) return before
    const host = nameIn(authority)
    known.set(authority, host)
    return host
  }
}

/**
 * Makes a finder of names by the host of a request. What is below the domain is always a
 * deployment, whether it exists or not.
 */
export function hostNames({ serving, domain }: Pick<MountParts, 'serving' | 'domain'>,
  hostOf: HostReader): (request: Called) => string | undefined {
  const suffix = domain === undefined ? undefined : `.${domain.toLowerCase()}`
  return (request) => {
    const host = hostOf(request)
    if (suffix !== undefined && host.endsWith(suffix)) return host.slice(0, -suffix.length)
    return serving.named(host)?.name
  }
}

/** In small letters. The dot that may end a name says that it is whole, as it is here anyway. */
function nameIn(authority: string): string {
  const name = URL.parse(`http://${authority}`)?.hostname ?? ''
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** The host name by which the client called. */
export function calledHost(request: Called,
  isFromProxy: (request: Called) => boolean = () => false): string {
  return nameIn(calledAuthority(request, isFromProxy))
}

/** The host and port by which the client called. Only proxies may say that it was another one. */
export function calledAuthority(request: Called,
  isFromProxy: (request: Called) => boolean): string {
  const { headers } = request
  const forwarded = headers['x-forwarded-host']
  if (forwarded !== undefined && isFromProxy(request)) {
    // Each proxy adds what it was called by, so the last one is of the proxy that is believed.
    return String(forwarded).split(',').at(-1)!.trim()
  }
  return headers.host ?? String(headers[':authority'] ?? '')
}
