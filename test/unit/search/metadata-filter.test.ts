/** Filters that a login returns: what they mean, and what is refused. */

import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { matchesMetadata, readMetadataFilter } from '../../../src/search/index.ts'
import { expectAlways } from '../../support/expect-always.ts'

type Members = Readonly<Record<string, unknown>>

const key = fc.constantFrom('owner', 'team', 'toString', '__proto__')
const scalar = fc.constantFrom(0, 1, '', '0', 'ann', 'bob', true, false, null)
const condition = fc.dictionary(
  key,
  fc.oneof(
    scalar,
    scalar.map((value) => ({ $eq: value })),
    scalar.map((value) => ({ $contains: value })),
    fc.array(scalar, { maxLength: 2 }).map((values) => ({ $contains: values })),
  ),
  { maxKeys: 2 },
)
const branches = (of: fc.Arbitrary<Members>) =>
  fc.record({ $or: fc.array(of, { maxLength: 3 }), $and: fc.array(of, { maxLength: 2 }) }, {
    requiredKeys: [],
  })
const inner = fc.tuple(condition, branches(condition)).map(([one, other]) => ({ ...one, ...other }))
const filter = fc.tuple(condition, branches(inner)).map(([one, other]) => ({ ...one, ...other }))
const metadata = fc.dictionary(key, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })))

/** The meaning as the pages of the SDK tell it, without a second thought for cost. */
function isSeen(wanted: Members, thing: Members): boolean {
  const own = (name: string) => Object.entries(thing).find(([each]) => each === name)
  return Object.entries(wanted).every(([name, value]) => {
    if (name === '$or') return (value as Members[]).some((each) => isSeen(each, thing))
    if (name === '$and') return (value as Members[]).every((each) => isSeen(each, thing))
    const found = own(name)
    if (found === undefined) return false
    const asked = value as { $eq?: unknown; $contains?: unknown } | null
    if (typeof asked !== 'object' || asked === null) return isDeepStrictEqual(found[1], asked)
    if ('$eq' in asked) return isDeepStrictEqual(found[1], asked.$eq)
    const list = found[1]
    return Array.isArray(list) && [asked.$contains].flat().every((each) => list.includes(each))
  })
}

it('means what the conditions say, also after it was sent to a member', () => {
  expectAlways(fc.property(filter, metadata, (wanted, thing) => {
    const read = readMetadataFilter(wanted)
    const sent = JSON.parse(JSON.stringify(read)) as typeof read
    expect(matchesMetadata(read, thing)).toBe(isSeen(wanted, thing))
    expect(matchesMetadata(sent, thing)).toBe(isSeen(wanted, thing))
  }))
})

it('sees nothing by an empty $or, and everything by an empty filter', () => {
  expect(matchesMetadata(readMetadataFilter({ $or: [] }), { owner: 'ann' })).toBe(false)
  expect(matchesMetadata(readMetadataFilter({}), {})).toBe(true)
  expect(matchesMetadata(readMetadataFilter({ owner: null }), {})).toBe(false)
  const inherited = Object.create({ owner: 'ann' }) as Members
  expect(matchesMetadata(readMetadataFilter({ owner: 'ann' }), inherited)).toBe(false)
})

it.each([
  ['a text', 'owner', 'must be an object'],
  ['null', null, 'must be an object'],
  ['a list', [{ owner: 'ann' }], 'must be an object'],
  ['a value that is missing', { owner: undefined }, 'must be a text'],
  ['a number that is none', { owner: Number.NaN }, 'must be a text'],
  ['a list of values', { owner: ['ann'] }, 'must be a text'],
  ['an object as value', { owner: { $eq: {} } }, 'must be a text'],
  ['an unknown operator', { owner: { $ne: 'ann' } }, 'one of $eq and $contains'],
  ['two operators', { owner: { $eq: 'ann', $contains: 'ann' } }, 'one of $eq and $contains'],
  ['no operator', { owner: {} }, 'one of $eq and $contains'],
  ['a list within a list', { owner: { $contains: [['ann']] } }, 'must be a text'],
  ['an operator as key', { $nor: [] }, 'no operator'],
  ['an $or that is no list', { $or: { owner: 'ann' } }, 'a list of filters'],
  ['a branch that is no filter', { $or: ['ann'] }, 'must be an object'],
  ['three levels', { $or: [{ $and: [{ $or: [{ a: 1 }] }] }] }, '2 deep'],
  ['too many values', { a: { $contains: Array.from({ length: 100 }, () => 1) } }, '100 conditions'],
  ['too many branches', { $or: Array.from({ length: 101 }, () => ({})) }, '100 conditions'],
  ['long values', { a: 'x'.repeat(16 * 1024) }, '16 KB'],
])('refuses %s', (_, wanted, reason) => {
  expect(() => readMetadataFilter(wanted)).toThrow(reason)
})
