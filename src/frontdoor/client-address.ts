/** Where a request comes from, for whoever counts requests by address. */

import ipaddr from 'ipaddr.js'
import type { IPv4, IPv6 } from 'ipaddr.js'

import { HeddleError } from '../errors.ts'
import { hashOf } from '../records/index.ts'

/** Proxies that are believed when they say whom they speak for. */
export type TrustedProxies = readonly (readonly [IPv4 | IPv6, number])[]

/** Of addresses and ranges, as `10.0.0.0/8`. Throws HeddleError with a sentence. */
export function trustedProxies(texts: readonly string[],
  setting = '--trusted-proxies (or HEDDLE_TRUSTED_PROXIES)'): TrustedProxies {
  return texts.map((text) => {
    const [, base = '', digits] = /^([^/]+)(?:\/(\d+))?$/.exec(text) ?? []
    const address = parsed(base)
    const most = address?.kind() === 'ipv4' ? 32 : 128
    const bits = digits === undefined ? most : Number(digits)
    if (address !== undefined && bits <= most) return [address, bits]
    throw new HeddleError('invalid', `${setting} must list addresses or ` +
      `ranges like 10.0.0.0/8, not "${text}".`)
  })
}

/** Whether a request comes straight from one that is believed about its users. */
export function fromUserProxies(texts: readonly string[]):
(request: { readonly socket: { readonly remoteAddress?: string | undefined } }) => boolean {
  const proxies = trustedProxies(texts, '--user-proxies (or HEDDLE_USER_PROXIES)')
  return ({ socket }) => {
    const peer = parsed(socket.remoteAddress ?? '')
    return peer !== undefined && isTrusted(peer, proxies)
  }
}

export interface Hops {
  /** The other end of the connection; undefined where that is gone. */
  readonly peer: string | undefined
  /** The header X-Forwarded-For, in which each hop adds whom it heard. */
  readonly forwardedFor: string | undefined
  readonly trusted: TrustedProxies
}

/**
 * Who sent the request: the peer, or the last one before it that no trusted proxy is. What others
 * wrote into the header is not believed. An IPv4 address as such; of an IPv6 address its /64, which
 * is what one customer has.
 */
export function clientAddress({ peer, forwardedFor, trusted }: Hops): string {
  let client = parsed(peer ?? '')
  if (client === undefined) return 'unknown'
  const hops = forwardedFor?.split(',') ?? []
  while (isTrusted(client, trusted) && hops.length > 0) {
    const before = parsed(withoutPort(hops.pop()!.trim()))
    if (before === undefined) break
    client = before
  }
  return groupOf(client)
}

/** An IPv4 address that comes as IPv6 is one. */
function parsed(text: string): IPv4 | IPv6 | undefined {
  if (!ipaddr.IPv6.isValid(text) && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.process(text)
}

function withoutPort(text: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

function isTrusted(address: IPv4 | IPv6, trusted: TrustedProxies): boolean {
  return trusted.some(([range, bits]) => address.kind() === range.kind() &&
    address.match(range, bits))
}

export interface Address {
  readonly text: string
  readonly hash: string
}

export type AddressOf = (request: {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => Address

/** What a peer is called is remembered, for so many: to find it out is half the cost of a limit. */
const addressesKept = 10_000

/** Tells where requests come from, past the proxies that are trusted. */
export function addressReader(trusted: TrustedProxies): AddressOf {
  const known = new Map<string, Address>()
  const read = (peer: string | undefined, forwardedFor?: string) => {
    const text = clientAddress({ peer, forwardedFor, trusted })
    return { text, hash: hashOf(text) }
  }
  return ({ socket: { remoteAddress: peer }, headers }) => {
    const { 'x-forwarded-for': forwardedFor } = headers
    if (forwardedFor !== undefined && trusted.length > 0) return read(peer, String(forwardedFor))
    let address = known.get(peer ?? '')
    if (address === undefined) {
      if (known.size >= addressesKept) known.clear()
      known.set(peer ?? '', address = read(peer))
    }
    return address
  }
}

function groupOf(address: IPv4 | IPv6): string {
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as IPv6).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
