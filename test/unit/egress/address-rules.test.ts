/** Which addresses may be called, in every spelling of an address. */

import { isIP } from 'node:net'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { AddressRules } from '../../../src/egress/address-rules.ts'
import { callableUrl } from '../../../src/egress/url-rules.ts'
import { expectAlways } from '../../support/expect-always.ts'

const rules = new AddressRules([])

/** The ranges that may not be called, as first address and bits. */
const closedRanges = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

const numberOf = (address: string) =>
  address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0)
const octetsOf = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255)
const decimals = (number: number) => octetsOf(number).join('.')

const closedNumber = fc.constantFrom(...closedRanges).chain(([first, bits]) =>
  fc.nat(2 ** (32 - bits) - 1).map((offset) => numberOf(first) + offset)
)

/** A number outside all closed ranges. */
const openNumber = fc.nat(2 ** 32 - 1).filter((number) =>
  rules.fault('', decimals(number)) === undefined
)

const hex = (number: number) => number.toString(16)

/** Spellings of the same address. */
const spellings: readonly ((number: number) => string)[] = [
  decimals,
  (number) => String(number),
  (number) => `0x${hex(number)}`,
  (number) => `0${number.toString(8)}`,
  (number) => octetsOf(number).map((octet) => `0x${hex(octet)}`).join('.'),
  (number) => octetsOf(number).map((octet) => `0${octet.toString(8)}`).join('.'),
  (number) => `${number >>> 24}.${number & 0xff_ffff}`,
  (number) => `${number >>> 24}.${(number >>> 16) & 255}.${number & 0xffff}`,
  (number) => `${decimals(number)}.`,
  (number) => decimals(number).replaceAll('.', '%2e'),
  (number) => `[::ffff:${decimals(number)}]`,
  (number) => `[::ffff:${hex(number >>> 16)}:${hex(number & 0xffff)}]`,
  (number) => `[0:0:0:0:0:FFFF:${hex(number >>> 16)}:${hex(number & 0xffff)}]`,
  (number) => `[::${decimals(number)}]`,
  (number) => `[64:ff9b::${decimals(number)}]`,
  (number) => `[64:ff9b:1::${decimals(number)}]`,
  (number) => `[2002:${hex(number >>> 16)}:${hex(number & 0xffff)}::1]`,
  (number) => `[::ffff:0:${decimals(number)}]`,
]

describe('an address in a closed range', () => {
  it('is refused in a URL, in every spelling', () => {
    expectAlways(
      fc.property(closedNumber, fc.constantFrom(...spellings), fc.boolean(),
        (number, spell, secure) => {
          const url = `http${secure ? 's' : ''}://${spell(number)}/hook`
          expect(() => callableUrl(url, rules), url).toThrow(/is |absolute/)
        }),
    )
  })

  it('is refused if a name resolves to it', () => {
    expectAlways(fc.property(closedNumber, (number) => {
      expect(rules.fault('example.org', decimals(number))).toBeDefined()
      expect(rules.fault('example.org', `::ffff:${decimals(number)}`)).toBeDefined()
    }))
  })

  it.each(closedRanges)('is refused from the first to the last of %s/%i', (first, bits) => {
    for (const number of [numberOf(first), numberOf(first) + 2 ** (32 - bits) - 1]) {
      expect(rules.fault('', decimals(number)), decimals(number)).toBeDefined()
    }
  })
})

describe('an address of IPv6', () => {
  it.each(['::', '::1', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1',
    'fec0::1', '2001::1', '2001:db8::1', '2001:10::1', '2002:a00:1::', '3fff::1', '100::1',
    '5f00::1', '64:ff9b:1::a00:1', '::a00:1', '::ffff:0:a00:1'])('is refused: %s', (address) => {
      expect(isIP(address)).toBe(6)
      expect(rules.fault('', address)).toBeDefined()
    })

  it('is refused unless it is global', () => {
    expectAlways(fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (parts) => {
      fc.pre(parts[0]! >>> 13 !== 1 && parts[0] !== 0x64 && parts[0] !== 0)
      expect(rules.fault('', parts.map(hex).join(':'))).toBeDefined()
    }))
  })

  it('may be called if it is public', () => {
    const open = ['2606:4700::1111', '2a00:1450::1', '64:ff9b::8.8.8.8', '::ffff:8.8.8.8']
    for (const address of open) {
      expect(rules.fault('', address), address).toBeUndefined()
    }
  })
})

describe('a public address', () => {
  it('may be called, even if it is next to a closed range', () => {
    for (const address of ['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0',
      '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255',
      '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0',
      '223.255.255.255']) {
      expect(rules.fault('', address), address).toBeUndefined()
    }
    expectAlways(fc.property(openNumber, (number) => {
      expect(() => callableUrl(`https://${decimals(number)}/`, rules)).not.toThrow()
    }))
  })
})

describe('an exception', () => {
  const some = new AddressRules(['127.0.0.1', '10.1.0.0/16', 'fd00::/8', 'Hooks.internal'])

  it.each(['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd12::1'])('allows its address: %s',
    (address) => expect(some.fault('any.example', address)).toBeUndefined())

  it.each(['127.0.0.2', '10.2.0.0', 'fe80::1', '::1'])('leaves others closed: %s',
    (address) => expect(some.fault('any.example', address)).toBeDefined())

  it('allows a host by its name, and no other name with its address', () => {
    expect(some.fault('hooks.internal', '192.168.1.1')).toBeUndefined()
    expect(some.fault('hooks.example', '192.168.1.1')).toBeDefined()
  })
})
