/** IP addresses and ranges, as written in settings, headers and connections. */

import { isIPv4 } from 'node:net'

import ipaddr from 'ipaddr.js'

/** A parsed address of IPv4 or IPv6. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** All addresses with the same first bits as this one. */
export type IpRange = readonly [address: IpAddress, bits: number]

/** Parses an address; undefined if it is none. An IPv4 address mapped into IPv6 becomes IPv4. */
export function ipAddress(text: string): IpAddress | undefined {
  if (!ipaddr.IPv6.isValid(text) && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.process(text)
}

/** Parses `10.0.0.0/8` or a single address; undefined if it is neither. */
export function ipRange(text: string): IpRange | undefined {
  const [, base = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = ipAddress(base)
  if (address === undefined) return undefined
  const most = address.kind() === 'ipv4' ? 32 : 128
  const bits = digits === undefined ? most : Number(digits)
  return bits <= most ? [address, bits] : undefined
}

/** True if an address is in a range. */
export function isWithin(address: IpAddress, [range, bits]: IpRange): boolean {
  return address.kind() === range.kind() && address.match(range, bits)
}

/** Ranges of the addresses that only this machine can reach. */
export const loopbackRanges: readonly string[] = ['127.0.0.0/8', '::1']

/** True if only this machine can reach a host, given as an address or a name. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') ||
    host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}
