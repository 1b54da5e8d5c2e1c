/** Addresses and ranges in every valid spelling, and in invalid ones. */

import { expect, it } from 'vitest'

import { ipAddress, ipRange, isLoopback, isWithin } from '../../../src/settings/ip-address.ts'

it.each([
  ['10.0.0.0/8', '10.255.0.1', '11.0.0.0'],
  ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
  ['0.0.0.0/0', '255.0.0.1', '::1'],
  ['::/0', '2001:db8::1', '1.2.3.4'],
  ['fd00::/8', 'fdff::1', 'fe00::1'],
  ['::1', '::1', '::2'],
  ['10.0.0.0/8', '::ffff:10.0.0.1', '::ffff:11.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.2'],
])('%s contains %s, and not %s', (range, inside, outside) => {
  expect(isWithin(ipAddress(inside)!, ipRange(range)!)).toBe(true)
  expect(isWithin(ipAddress(outside)!, ipRange(range)!)).toBe(false)
})

it.each(['10.0.0.0/33', '::/129', 'everybody', '10.0.0.1/x', '10.0.0.0/', '10.0.0.0/8/8', '1.2.3',
  '::ffff:10.0.0.0/104', ''])('"%s" is no range', (text) => {
    expect(ipRange(text)).toBeUndefined()
  })

it('Only hosts that lead to this machine are loopback.', () => {
  const own = ['localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', 'a.localhost']
  expect(own.filter(isLoopback)).toEqual(own)
  expect(
    ['', '0.0.0.0', '::', '128.0.0.1', '1270.0.0.1', '10.0.0.1', 'localhost.evil.example',
      '127.evil.example', '127.0.0.1.evil.example', '::ffff:10.0.0.1'].filter(isLoopback),
  ).toEqual([])
})
