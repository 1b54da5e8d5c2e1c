/** Nested values from dotted keys: nothing is lost, and no key harms the server. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { AttributeValue } from '../../../../src/platform/ingest/otlp/otlp-attributes.ts'
import { levelsMax, NestedValue,
  splitNumbered } from '../../../../src/platform/ingest/otlp/otlp-nested.ts'

type Pair = readonly [path: string, value: AttributeValue]

/** Writes a value as exporters do: a key for each scalar. */
function flatten(value: AttributeValue, path: readonly string[] = []): Pair[] {
  if (typeof value !== 'object' || value === null) return [[path.join('.'), value]]
  return Object.entries(value).flatMap(([name, inner]) =>
    flatten(inner as AttributeValue, [...path, name])
  )
}

function unflatten(pairs: readonly Pair[]): AttributeValue {
  const nested = new NestedValue()
  const added = pairs.filter(([path, value]) => nested.add(path, value))
  expect(added.length).toBe(pairs.length)
  return nested.value() as AttributeValue
}

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
const name = fc.oneof(
  fc.constantFrom('role', 'function', 'arguments', '__proto__', 'constructor', 'toString',
    'length'),
  fc.stringMatching(/^[a-z_ ][^.]{0,8}$/),
)
const { value: anyValue } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, scalar, fc.array(tie('value'), { minLength: 1, maxLength: 5 }),
    fc.uniqueArray(fc.tuple(name, tie('value')), { minLength: 1, maxLength: 5,
      selector: ([key]) => key }).map((entries) => Object.fromEntries(entries))),
}))
const list = fc.array(anyValue, { minLength: 1, maxLength: 12 })

/** Paths of any kind, most of them in each other's way. */
const path = fc.array(
  fc.constantFrom('0', '1', '00', '999999', '1000000', '-1', '1e3', 'a', '', 'message', 'tool_call',
    '__proto__', 'prototype', 'constructor', 'length'),
  { minLength: 1, maxLength: 45 },
).map((names) => names.join('.'))

describe('a nested value', () => {
  it('is what was flattened, in any order of its keys', () => {
    fc.assert(fc.property(list, fc.nat(), (value, seed) => {
      const pairs = flatten(value)
      const order = new Map(pairs.map(([path], at) => [path, (at * 7_919 + seed) % 104_729]))
      const shuffled = pairs.toSorted(([a], [b]) => order.get(a)! - order.get(b)!)
      expect(JSON.stringify(unflatten(pairs))).toBe(JSON.stringify(value))
      const texts = (pairs: readonly Pair[]) => pairs.map((pair) => JSON.stringify(pair)).toSorted()
      expect(texts(flatten(unflatten(shuffled)))).toEqual(texts(pairs))
    }))
  })

  it('has each value once, or leaves it to its caller, and is bounded in depth and length', () => {
    fc.assert(fc.property(fc.array(path, { maxLength: 40 }), (paths) => {
      const nested = new NestedValue()
      const added = paths.filter((each, at) => nested.add(each, at)).length
      const seen = { leaves: 0, depth: 0, longest: 0 }
      const walk = (value: AttributeValue, depth: number) => {
        seen.depth = Math.max(seen.depth, depth)
        if (typeof value !== 'object' || value === null) return void seen.leaves++
        if (Array.isArray(value)) seen.longest = Math.max(seen.longest, value.length)
        for (const inner of Object.values(value)) walk(inner as AttributeValue, depth + 1)
      }
      walk(nested.value() as AttributeValue, 0)
      expect(seen.leaves).toBe(added)
      expect(seen.depth).toBeLessThanOrEqual(levelsMax)
      expect(seen.longest).toBeLessThanOrEqual(paths.length)
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototypeNames)
    }))
  })

  it('reads a key of a million levels in time, and keeps its rest as one name', () => {
    const long = `0${'.a'.repeat(1_000_000)}`
    const value = unflatten([[long, 1]])
    expect(flatten(value)).toEqual([[long, 1]])
  })

  it('has no gaps, however large an index is, and reads larger numbers as names', () => {
    expect(unflatten([['999999.role', 'b'], ['3.role', 'a']])).toEqual([{ role: 'a' }, {
      role: 'b',
    }])
    expect(unflatten([['1000000', 1]])).toEqual({ 1000000: 1 })
    expect(unflatten([['0', 1], ['rest', 2]])).toEqual({ 0: 1, rest: 2 })
  })

  it('leaves out the singular behind an index, and only there', () => {
    expect(
      unflatten([['0.message.tool_calls.0.tool_call.function.name', 'search'], [
        '0.message.contents.0.message_content.text',
        'hi',
      ], ['0.message.message', 'kept'], ['1.tool', 'kept']]),
    ).toEqual([
      { tool_calls: [{ function: { name: 'search' } }], contents: [{ text: 'hi' }],
        message: 'kept' },
      { tool: 'kept' },
    ])
  })
})

const prototypeNames = Object.getOwnPropertyNames(Object.prototype)

it.each([
  ['gen_ai.prompt.0.role', ['gen_ai.prompt', '0.role']],
  ['llm.prompts.12', ['llm.prompts', '12']],
  ['a.0.b.1.c', ['a', '0.b.1.c']],
  ['a.00.b', undefined],
  ['a.1234567.b', undefined],
  ['0.a', undefined],
  ['gpt-4.1-mini', undefined],
  ['v1.0', ['v1', '0']],
])('splits %s at its first index', (key, parts) => {
  expect(splitNumbered(key)).toEqual(parts)
})
