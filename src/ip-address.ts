/** IP addresses and ranges of them, as settings, headers and connections name them. */

import { isIPv4 } from 'node:net'

import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** The addresses whose first bits are those of this one. */
export type IpRange = readonly [address: IpAddress, bits: number]

/** An IPv4 address that comes as IPv6 is one; undefined for what is none. */
export function ipAddress(text: string): IpAddress | undefined {
  if (!ipaddr.IPv6.isValid(text) && !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined
  return ipaddr.process(text)
}

/** Of `10.0.0.0/8`, or of an address alone; undefined for what is neither. */
export function ipRange(text: string): IpRange | undefined {
  const [, base = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = ipAddress(base)
  if (address === undefined) return undefined
  const most = address.kind() === 'ipv4' ? 32 : 128
  const bits = digits === undefined ? most : Number(digits)
  return bits <= most ? [address, bits] : undefined
}

export function isWithin(address: IpAddress, [range, bits]: IpRange): boolean {
  return address.kind() === range.kind() && address.match(range, bits)
}

/** True for an address, or a name of one, that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') ||
    host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}
