/**
 * Addresses from which code of deployments could call as every user: the addresses of this machine
 * that are in the ranges of `--user-proxies`.
 */

import { networkInterfaces } from 'node:os'

import { ipAddress, ipRange, isWithin, loopbackRanges } from '../../settings/index.ts'
import type { IpRange, Settings } from '../../settings/index.ts'

type ProxySettings = Pick<Settings, 'auth' | 'userProxies'>

/** Each address in them is an address of this machine, whatever its interfaces are. */
const loopback: readonly IpRange[] = loopbackRanges.map((text) => ipRange(text)!)

/** Returns these addresses of this machine. Empty for a server on which all callers are equal. */
export function posingAddresses({ auth, userProxies }: ProxySettings): readonly string[] {
  return auth === 'none' ? [] : addressesIn(userProxies, ownAddresses())
}

/** Returns the addresses that are in a range, and each range that has loopback addresses. Pure. */
export function addressesIn(ranges: readonly IpRange[],
  addresses: readonly string[]): readonly string[] {
  const loops = ranges.filter((range) => loopback.some((each) => isOverlap(range, each)))
    .map(([address, bits]) => `${address.toString()}/${bits}`)
  const others = addresses.filter((text) => {
    const address = ipAddress(text)
    return address !== undefined && !loopback.some((each) => isWithin(address, each))
      && ranges.some((range) => isWithin(address, range))
  })
  return [...loops, ...others]
}

function isOverlap(one: IpRange, other: IpRange): boolean {
  return isWithin(one[0], other) || isWithin(other[0], one)
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    each?.map(({ address }) => address) ?? []
  )
}
