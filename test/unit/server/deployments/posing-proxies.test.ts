/** Addresses of a machine from which its code could pose as a proxy of users. */

import { describe, expect, it } from 'vitest'

import { addressesIn, posingAddresses } from '../../../../src/server/deployments/posing-proxies.ts'
import { ipRange } from '../../../../src/settings/index.ts'

const own = ['127.0.0.1', '10.1.2.3', '::1', 'fe80::1']
const found = (...ranges: readonly string[]) =>
  addressesIn(ranges.map((each) => ipRange(each)!), own)

describe('an address of this machine in the ranges of proxies', () => {
  it('is found by each range that has loopback addresses', () => {
    expect(found('127.0.0.1')).toEqual(['127.0.0.1/32'])
    // Code can call from each of these addresses.
    expect(found('127.8.0.0/16')).toEqual(['127.8.0.0/16'])
    expect(found('::1')).toEqual(['::1/128'])
  })

  it('is found among the addresses of its interfaces', () => {
    expect(found('10.1.0.0/16')).toEqual(['10.1.2.3'])
    expect(found('0.0.0.0/0')).toEqual(['0.0.0.0/0', '10.1.2.3'])
    expect(found('fe80::/10')).toEqual(['fe80::1'])
  })

  it('is not found for a proxy on another machine', () => {
    expect(found('10.2.0.0/16', '192.0.2.1', 'fd00::/8')).toEqual([])
  })

  it('does not matter where every caller has full access', () => {
    const userProxies = [ipRange('127.0.0.1')!]
    expect(posingAddresses({ auth: 'none', userProxies })).toEqual([])
    expect(posingAddresses({ auth: 'keys', userProxies })).toEqual(['127.0.0.1/32'])
  })
})
