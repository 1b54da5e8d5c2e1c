/** The address of a client: only trusted proxies may name another one. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { clientAddress,
  fromUserProxies } from '../../../../src/frontdoor/http/connections/client-address.ts'
import { ipRange } from '../../../../src/settings/ip-address.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const rangesOf = (...texts: string[]) => texts.map((text) => ipRange(text)!)
const proxies = rangesOf('10.0.0.0/8', 'fd00::/8', '192.0.2.1')
const from = (peer: string, forwardedFor?: string, trusted = proxies) =>
  clientAddress({ peer, forwardedFor, trusted })

describe('the address of a client', () => {
  it.each([
    ['203.0.113.7', undefined, '203.0.113.7'],
    ['203.0.113.7', '1.2.3.4', '203.0.113.7'],
    ['10.1.1.1', '1.2.3.4', '1.2.3.4'],
    ['10.1.1.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
    ['10.1.1.1', '6.6.6.6, 1.2.3.4, 10.2.2.2, 192.0.2.1', '1.2.3.4'],
    ['::ffff:10.1.1.1', '::ffff:1.2.3.4', '1.2.3.4'],
    ['10.1.1.1', '1.2.3.4:5678', '1.2.3.4'],
    ['fd00::1', '[2001:db8:1:2:3:4:5:6]:443', '2001:db8:1:2::/64'],
    ['10.1.1.1', 'unknown', '10.1.1.1'],
    ['10.1.1.1', '1.2.3.4, nonsense, 10.2.2.2', '10.2.2.2'],
    ['10.1.1.1', '', '10.1.1.1'],
    ['10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
  ])('of %s with %s is %s', (peer, forwardedFor, address) => {
    expect(from(peer, forwardedFor)).toBe(address)
  })

  it('is the same for a whole /64 of IPv6, and unknown if the connection is gone', () => {
    expect(from('2001:db8::1')).toBe(from('2001:db8::ffff:1'))
    expect(from('2001:db8::1')).not.toBe(from('2001:db8:0:1::1'))
    expect(clientAddress({ peer: undefined, forwardedFor: '1.2.3.4', trusted: proxies }))
      .toBe('unknown')
  })

  it('is that of the peer, whatever it forwards, if no proxy is trusted', () => {
    expectAlways(fc.property(fc.ipV4(), fc.string(), (peer, text) => from(peer, text, []) === peer))
  })

  it('is the one that the outermost trusted proxy saw, whatever came before', () => {
    const outsider = fc.ipV4().filter((ip) => !ip.startsWith('10.') && ip !== '192.0.2.1')
    expectAlways(
      fc.property(fc.array(fc.string()), outsider,
        fc.array(fc.constantFrom('10.9.9.9', '192.0.2.1', 'fd12::1')),
        (made, client, hops) => from('10.1.1.1', [...made, client, ...hops].join(', ')) === client),
    )
  })

  it('never throws, whatever is sent', () => {
    expectAlways(fc.property(fc.string(), fc.string(), (peer, text) => from(peer, text).length > 0))
  })
})

describe('a proxy that names users', () => {
  const isOne = fromUserProxies(rangesOf('10.0.0.0/8', '::1'))
  const peer = (remoteAddress?: string) => isOne({ socket: { remoteAddress } })

  it('is recognized by the peer of the connection alone', () => {
    expect([peer('10.1.2.3'), peer('::ffff:10.1.2.3'), peer('::1')]).toEqual([true, true, true])
    expect([peer('11.1.2.3'), peer('127.0.0.1'), peer()]).toEqual([false, false, false])
    expect(fromUserProxies([])({ socket: { remoteAddress: '127.0.0.1' } })).toBe(false)
  })
})
