/** Addresses that may be called: none of this machine, its network or its cloud. */

import { ipAddress, ipRange, isWithin } from '../settings/index.ts'
import type { IpAddress, IpRange } from '../settings/index.ts'

/** Special addresses, as IANA's registries have them, and one of a cloud. */
export const closedRanges = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', "behind a carrier's NAT"],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', "a cloud's own"],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'for protocols'],
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'a 6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['2001::/23', 'for protocols'],
  ['2001:db8::/32', 'for documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'for documentation'],
] as const

const closed = closedRanges.map(([range, what]) => ({ range: ipRange(range)!, what }))

/** The only IPv6 addresses that can be reached from anywhere. */
export const globalRange = '2000::/3'
const global = ipRange(globalRange)!

/** Range that is translated to IPv4: the address in its last bytes is the one that answers. */
const nat64 = ipRange('64:ff9b::/96')!

/** Decides about one address, for a host name or an address in a URL. */
export class AddressRules {
  readonly #ranges: readonly IpRange[]
  readonly #hosts: ReadonlySet<string>

  /** `allowed` are addresses, ranges (`10.1.0.0/16`) and host names that may be called too. */
  constructor(allowed: readonly string[]) {
    this.#ranges = allowed.map(ipRange).filter((range) => range !== undefined)
    this.#hosts = new Set(allowed.map((target) => target.toLowerCase()))
  }

  /** Reason why `address` may not be called for `host`; undefined if it may. */
  fault(host: string, address: string): string | undefined {
    if (this.#hosts.has(host)) return undefined
    const behind = behindOf(ipAddress(address)!)
    if (this.#ranges.some((range) => isWithin(behind, range))) return undefined
    const found = closed.find(({ range }) => isWithin(behind, range))
    if (found !== undefined) return found.what
    return behind.kind() === 'ipv6' && !isWithin(behind, global) ? 'not global' : undefined
  }
}

/** The IPv4 address behind a NAT64 address; any other as it is. */
function behindOf(address: IpAddress): IpAddress {
  if (!isWithin(address, nat64)) return address
  return ipAddress(address.toByteArray().slice(12).join('.'))!
}
