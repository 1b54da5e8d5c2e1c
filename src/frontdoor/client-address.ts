/** Where a request comes from, for whoever counts requests by address. */

import ipaddr from 'ipaddr.js'
import type { IPv4, IPv6 } from 'ipaddr.js'

import { HeddleError } from '../errors.ts'

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

function groupOf(address: IPv4 | IPv6): string {
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as IPv6).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
