/** Forms of schemas: which field a schema gets, what a form begins with, what is wrong with it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { fieldOf, fits, initialValue, schemaOfValue,
  wordsOf } from '../../../src/studio/forms/schema-fields.ts'
import type { Field } from '../../../src/studio/forms/schema-fields.ts'
import { faultsOf, parseJson, property, weight,
  withProperty } from '../../../src/studio/forms/values.ts'
import { expectAlways } from '../../support/expect-always.ts'

const kind = (schema: unknown, root: unknown = schema) => fieldOf(schema, root).field.kind

describe('a field', () => {
  it.each<[string, object, Partial<Field>]>([
    ['a text', { type: 'string' }, { kind: 'text', format: 'text', grows: true }],
    ['a short text', { type: 'string', maxLength: 40 }, { kind: 'text', grows: false }],
    ['an address', { type: 'string', format: 'email' }, { kind: 'text', format: 'email' }],
    ['a day', { type: 'string', format: 'date' }, { kind: 'text', format: 'date' }],
    ['a whole number', { type: 'integer', minimum: 0 }, { kind: 'number', whole: true, min: 0 }],
    ['a choice', { enum: ['a', 2, true] }, { kind: 'choice', options: ['a', 2, true] }],
    ['constants', { oneOf: [{ const: 'a' }, { const: 'b' }] }, { kind: 'choice',
      options: ['a', 'b'] }],
    ['a list', { type: 'array', items: { type: 'number' } }, { kind: 'list',
      item: { type: 'number' } }],
    ['an object', { properties: { a: { type: 'boolean' } }, required: ['a'] }, { kind: 'object',
      parts: [{ name: 'a', schema: { type: 'boolean' }, required: true }] }],
    ['any object', { type: 'object', additionalProperties: {} }, { kind: 'json' }],
    ['one of two types', { anyOf: [{ type: 'string' }, { type: 'number' }] }, { kind: 'json' }],
  ])('of %s', (_, schema, field) => {
    expect(fieldOf(schema, schema).field).toMatchObject(field)
  })

  it.each([[{ type: ['string', 'null'] }], [{ anyOf: [{ type: 'string' }, { type: 'null' }] }]])(
    'may be nothing where the schema takes null: %j',
    (schema) => {
      expect(fieldOf(schema, schema)).toMatchObject({ isNullable: true, field: { kind: 'text' } })
    },
  )

  it('follows references into the schema, and no others', () => {
    const root = { $defs: { 'a/b': { type: 'boolean' } }, properties: {} }
    expect(kind({ $ref: '#/$defs/a~1b' }, root)).toBe('boolean')
    expect(kind({ allOf: [{ $ref: '#/$defs/a~1b' }], title: 'x' }, root)).toBe('boolean')
    for (const reference of ['https://example.org/x', '#/__proto__', '#/$defs/%', '#/none', '']) {
      expect(kind({ $ref: reference }, root)).toBe('json')
    }
  })

  it('of a schema that contains itself is one level of it', () => {
    const root = { type: 'object', required: ['child'],
      properties: { name: { type: 'string', default: 'x' }, child: { $ref: '#' } } }
    expect(kind(root)).toBe('object')
    expect(JSON.stringify(initialValue(root, root)).length).toBeLessThan(1_000)
    expect(kind({ $ref: '#' }, { $ref: '#' })).toBe('json')
  })

  it('is there for anything that is given as a schema', () => {
    expectAlways(fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
      const field = fieldOf(schema, schema)
      expect(typeof fits(field, value)).toBe('boolean')
      initialValue(schema, schema)
      faultsOf(schema, value)
    }))
  })
})

it('A value gets a schema whose fields fit it', () => {
  const check = (schema: unknown, value: unknown) => {
    const field = fieldOf(schema, schema)
    expect(fits(field, value)).toBe(true)
    if (field.field.kind !== 'object') return
    for (const part of field.field.parts) check(part.schema, property(value, part.name))
  }
  expectAlways(fc.property(fc.jsonValue(), (value) => check(schemaOfValue(value), value)))
})

it('A form begins with its defaults, and without what may be left out', () => {
  const schema = { type: 'object', required: ['where'], properties: {
    title: { type: 'string' },
    hours: { type: 'integer', default: 0 },
    where: { type: 'object', properties: { city: { type: 'string', default: 'Oslo' } } },
    more: { type: 'object', properties: { a: { type: 'string' } } },
  } }
  expect(initialValue(schema, schema)).toEqual({ hours: 0, where: { city: 'Oslo' } })
})

describe('a value', () => {
  it('that is edited and set back is what it was', () => {
    const objects = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue())
    expectAlways(fc.property(objects, fc.string(), fc.jsonValue(), (whole, name, part) => {
      const had = property(whole, name)
      const edited = withProperty(whole, name, part)
      expect(property(edited, name)).toEqual(part)
      const names = Object.keys(whole)
      expect(Object.keys(edited).filter((each) => each !== name))
        .toEqual(names.filter((each) => each !== name))
      expect(JSON.parse(JSON.stringify(withProperty(edited, name, had))))
        .toEqual(JSON.parse(JSON.stringify(whole)))
    }))
  })

  it('is wrong at its places, and nothing is said of what is left out', () => {
    const schema = { type: 'object', required: ['title', 'tags'], properties: {
      title: { type: 'string', minLength: 1 },
      hours: { type: 'integer', minimum: 0 },
      tags: { type: 'array', items: { type: 'string', maxLength: 3 } },
    } }
    expect(faultsOf(schema, { title: '', hours: -1, tags: ['abc', 'abcd'] })).toEqual({
      title: 'must not be empty',
      hours: 'must be 0 or more',
      'tags.1': 'must have 3 characters or less',
    })
    expect(faultsOf(schema, { hours: 1.5 })).toEqual({ title: 'is required', tags: 'is required',
      hours: 'must be a whole number' })
    expect(faultsOf(schema, { title: 'a', tags: [] })).toEqual({})
  })

  it('is weighed only as far as needed', () => {
    expect(weight('x'.repeat(10), 100)).toBe(14)
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(weight(deep, 1_000)).toBeGreaterThan(1_000)
    expect(weight(Array.from({ length: 1e6 }), 1_000)).toBe(1e6)
    expect(faultsOf({ type: 'array', items: { $ref: '#' } }, deep)).toEqual({})
  })
})

it('Names become words', () => {
  expect(
    ['notify_subscribers', 'notifySubscribers', 'URL', 'a', '_', 'Top K', 'top-k'].map(wordsOf),
  )
    .toEqual(['Notify subscribers', 'Notify subscribers', 'URL', 'A', '_', 'Top K', 'Top k'])
})

it('Text that is no JSON says why', () => {
  expect(parseJson('{"a":1}')).toEqual({ value: { a: 1 } })
  expect(parseJson('{')).toEqual({ fault: expect.stringContaining('no JSON') })
})
