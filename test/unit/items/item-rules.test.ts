/** Which names items may have: only those that are the same when a row is read back. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { ItemRow } from '../../../proto/gen/storage/v1/row.ts'
import { requireKey, requireNamespace } from '../../../src/items/item-rules.ts'
import { itemId } from '../../../src/search/index.ts'
import { anItem } from '../../contract/rows.ts'
import { expectAlways } from '../../support/expect-always.ts'

const text = fc.string({ unit: 'binary', minLength: 1 })
const broken = fc.tuple(fc.constantFrom('', 'a'), fc.constantFrom('\ud800', '\udfff')).map((
  [a, b],
) => a + b)
const name = fc.oneof(text, broken)

function isTaken(label: string, key: string): boolean {
  try {
    requireNamespace([label])
    requireKey(key)
    return true
  } catch {
    return false
  }
}

it('an item that is taken has the same id when its row is read back', () => {
  expectAlways(fc.property(name, name, (label, key) => {
    if (!isTaken(label, key)) return
    const read = ItemRow.decode(ItemRow.encode(anItem({ namespace: [label], key })).finish())
    expect(itemId(read.namespace, read.key)).toBe(itemId([label], key))
  }))
})

it('half a surrogate pair is refused, a whole one is taken', () => {
  expect(() => requireKey('a\ud83d')).toThrow('Unicode')
  expect(() => requireNamespace(['\ude00a'])).toThrow('Unicode')
  expect(isTaken('\ud83d\ude00', '\ud83d\ude00')).toBe(true)
})
