/** The client address of a request, by which requests are counted. */

import { LRUCache } from '../../../../cluster/index.ts'
import { hashOf } from '../../../access/index.ts'
import { ipAddress, isWithin } from '../../../settings/index.ts'
import type { IpAddress, IpRange } from '../../../settings/index.ts'

/** Makes a test for requests that come directly from a proxy whose user header is believed. */
export function fromUserProxies(
  proxies: readonly IpRange[],
): (request: { readonly socket: { readonly remoteAddress?: string | undefined } }) => boolean {
  return ({ socket }) => {
    const peer = ipAddress(socket.remoteAddress ?? '')
    return peer !== undefined && proxies.some((proxy) => isWithin(peer, proxy))
  }
}

/** The way of a request, as far as it is known. */
export interface Hops {
  /** The other end of the connection; undefined if the connection has closed. */
  readonly peer: string | undefined
  /** The header X-Forwarded-For. Each hop adds the address of its peer. */
  readonly forwardedFor: string | undefined
  /** Proxies whose entries in the header are believed. */
  readonly trusted: readonly IpRange[]
}

/**
 * Address that sent the request. It is the peer or, behind trusted proxies, the last entry that is
 * not a trusted proxy. IPv4 addresses are returned as they are, IPv6 addresses as their /64, which
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

/** Address of a client as limits count it, and the hash of its text. */
export interface Address {
  /** IPv4 address, or /64 of IPv6. */
  readonly text: string
  /** SHA-256 of the text, in hex. */
  readonly hash: string
}

/** Finds the client address of a request. */
export type AddressOf = (request: {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => Address

/** Number of peers that are cached. To parse and hash an address is half the cost of a limit. */
const addressesKept = 10_000

/** Makes a finder of client addresses behind trusted proxies. */
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

/** The address for IPv4, the /64 for IPv6. */
export function groupOf(address: IpAddress): string {
  if (!('parts' in address)) return address.toString()
  return `${address.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`
}
