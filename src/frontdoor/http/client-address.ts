/** The client address of a request, for counting requests by address. */

import { LRUCache } from '../../../cluster/index.ts'
import { hashOf } from '../../access/index.ts'
import { ipAddress, isWithin } from '../../settings/index.ts'
import type { IpAddress, IpRange } from '../../settings/index.ts'

/** Whether a request comes directly from a proxy that is believed about its users. */
export function fromUserProxies(
  proxies: readonly IpRange[],
): (request: { readonly socket: { readonly remoteAddress?: string | undefined } }) => boolean {
  return ({ socket }) => {
    const peer = ipAddress(socket.remoteAddress ?? '')
    return peer !== undefined && proxies.some((proxy) => isWithin(peer, proxy))
  }
}

export interface Hops {
  /** The other end of the connection; undefined if that is gone. */
  readonly peer: string | undefined
  /** The header X-Forwarded-For, to which each hop adds the address of its peer. */
  readonly forwardedFor: string | undefined
  /** Proxies whose entries in the header are believed. */
  readonly trusted: readonly IpRange[]
}

/**
 * Who sent the request: the peer or, behind trusted proxies, the last address that is none of them.
 * Entries of others are not believed. An IPv4 address as it is; of an IPv6 address its /64, which
 * is what one customer has.
 */
export function clientAddress({ peer, forwardedFor, trusted }: Hops): string {
  let client = ipAddress(peer ?? '')
  if (client === undefined) return 'unknown'
  const hops = forwardedFor?.split(',') ?? []
  const isTrusted = (hop: IpAddress) => trusted.some((proxy) => isWithin(hop, proxy))
  while (isTrusted(client) && hops.length > 0) {
    const before = ipAddress(withoutPort(hops.pop()!.trim()))
    if (before === undefined) break
    client = before
  }
  return groupOf(client)
}

function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

export interface Address {
  readonly text: string
  readonly hash: string
}

export type AddressOf = (request: {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => Address

/** How many peers are cached: to parse and hash an address is half the cost of a limit. */
const addressesKept = 10_000

/** Finds the client addresses of requests, behind trusted proxies. */
export function addressReader(trusted: readonly IpRange[]): AddressOf {
  const known = new LRUCache<string, Address>({ max: addressesKept })
  const read = (peer: string | undefined, forwardedFor?: string) => {
    const text = clientAddress({ peer, forwardedFor, trusted })
    return { text, hash: hashOf(text) }
  }
  return ({ socket: { remoteAddress: peer }, headers }) => {
    const { 'x-forwarded-for': forwardedFor } = headers
    if (forwardedFor !== undefined && trusted.length > 0) return read(peer, String(forwardedFor))
    let address = known.get(peer ?? '')
    if (address === undefined) {
      known.set(peer ?? '', address = read(peer))
    }
    return address
  }
}

/** An IPv4 address as it is; of an IPv6 address its /64. */
export function groupOf(address: IpAddress): string {
  if (!('parts' in address)) return address.toString()
  return `${address.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`
}
