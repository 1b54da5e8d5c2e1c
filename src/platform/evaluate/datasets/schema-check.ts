/**
 * Checks values against JSON schemas of tenants. It runs beside the work of other tenants, so each
 * check has a number of steps that it may take, and regular expressions are refused.
 */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'

/** Steps of one check. */
const stepsMax = 200_000
/** Characters of a text that is measured, and of a reference, that take as long as a step. */
const [measuredOfStep, namedOfStep] = [64, 16]
/** Levels of schemas in each other. */
const depthMax = 500
/** Characters of a schema. */
const schemaMax = 48 * 1024

/** Keywords that are refused, since this check would ignore them though they matter. */
const refused = ['pattern', 'patternProperties', 'unevaluatedProperties', 'unevaluatedItems',
  'dependentSchemas', '$dynamicRef'] as const

type Schema = Readonly<Record<string, unknown>>

/** Path at which a value does not fit its schema, and the reason. */
export interface Misfit {
  readonly path: string
  readonly reason: string
}

/** Throws `invalid` if the schema is none that is checked here. */
export function requireSchema(name: string, schema: unknown): void {
  if (!isObject(schema)) throw new HeddleError('invalid', `${name}: a schema is an object.`)
  const text = JSON.stringify(schema)
  if (text.length > schemaMax) {
    throw new HeddleError('invalid', `${name}: a schema may have ${schemaMax / 1024} KB.`)
  }
  const found = keywordsIn(schema).find((each) => (refused as readonly string[]).includes(each))
  if (found !== undefined) {
    throw new HeddleError('invalid', `${name}: ${found} is not checked here. Leave it out.`)
  }
}

/** All keywords; names of properties are none. */
function keywordsIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsIn)
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'enum' || keyword === 'const' || keyword === 'default') return []
    const holdsNames = keyword === 'properties' || keyword === '$defs' || keyword === 'definitions'
    const below = holdsNames && isObject(value) ? Object.values(value) : value
    return [keyword, ...keywordsIn(below)]
  })
}

/** Finds the first place where the value does not fit the schema; undefined if it fits. */
export function misfit(schema: unknown, value: unknown): Misfit | undefined {
  return new Check(schema).at(schema, value, '')
}

class Check {
  readonly #root: unknown
  readonly #counts = new WeakMap<object, number>()
  #left = stepsMax
  #depth = 0

  constructor(root: unknown) {
    this.#root = root
  }

  at(schema: unknown, value: unknown, path: string): Misfit | undefined {
    this.#left -= isObject(schema) ? stepsOf(schema, value) : 1
    if (this.#left < 0 || this.#depth === depthMax) {
      return { path, reason: 'is too much to check with this schema' }
    }
    if (schema === false) return { path, reason: 'may not be there' }
    if (!isObject(schema)) return undefined
    this.#depth++
    const found = this.#ref(schema, value, path) ?? this.#scalar(schema, value, path)
      ?? this.#object(schema, value, path) ?? this.#list(schema, value, path)
      ?? this.#combined(schema, value, path)
    this.#depth--
    return found
  }

  #fits(schema: unknown, value: unknown): boolean {
    return this.at(schema, value, '') === undefined
  }

  #ref({ $ref: ref }: Schema, value: unknown, path: string): Misfit | undefined {
    if (typeof ref !== 'string') return undefined
    if (!ref.startsWith('#')) return { path, reason: `needs ${ref}, which is not in the schema` }
    const steps = ref.slice(1).split('/').filter((step) => step !== '')
    const found = steps.reduce<unknown>((at, step) => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
    }, this.#root)
    if (found === undefined) return { path, reason: `needs ${ref}, which is not in the schema` }
    return this.at(found, value, path)
  }

  #scalar(schema: Schema, value: unknown, path: string): Misfit | undefined {
    const { type, enum: values, const: only } = schema
    const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
    if (types.length > 0 && !types.some((each) => isOfType(each, value))) {
      return { path, reason: `is no ${types.join(' or ')}` }
    }
    if (Array.isArray(values) && !values.some((each) => this.#isSame(each, value))) {
      return { path, reason: 'is none of the values of enum' }
    }
    if (only !== undefined && !this.#isSame(only, value)) {
      return { path, reason: 'is not the value of const' }
    }
    for (const [keyword, fits] of bounds) {
      const bound = schema[keyword]
      if (typeof bound === 'number' && !fits(value, bound)) {
        return { path, reason: `does not fit ${keyword} ${bound}` }
      }
    }
    return undefined
  }

  /** Looks no further than the first difference. */
  #isSame(a: unknown, b: unknown): boolean {
    if (a === b) return true
    if (--this.#left < 0) return false
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((each, index) => this.#isSame(each, b[index]))
    }
    if (!isObject(a) || !isObject(b)) return false
    const names = Object.keys(a)
    return names.length === this.#count(b) &&
      names.every((name) => Object.hasOwn(b, name) && this.#isSame(a[name], b[name]))
  }

  /** The members of a value, which are counted once. */
  #count(value: object): number {
    const count = this.#counts.get(value) ?? Object.keys(value).length
    this.#counts.set(value, count)
    return count
  }

  #object(schema: Schema, value: unknown, path: string): Misfit | undefined {
    if (!isObject(value)) return undefined
    const { properties, additionalProperties: others, required } = schema
    for (const name of Array.isArray(required) ? required : []) {
      if (!Object.hasOwn(value, String(name))) {
        return { path: below(path, String(name)), reason: 'is missing' }
      }
    }
    const known = isObject(properties) ? properties : {}
    for (const [name, each] of Object.entries(value)) {
      const own = Object.hasOwn(known, name) ? known[name] : others
      const found = this.at(own, each, below(path, name))
      if (found !== undefined) return found
    }
    return undefined
  }

  #list({ items, prefixItems: first }: Schema, value: unknown, path: string): Misfit | undefined {
    if (!Array.isArray(value)) return undefined
    const [leading, rest] = Array.isArray(items) ? [items, undefined] : [first, items]
    for (const [index, each] of value.entries()) {
      const own = Array.isArray(leading) && index < leading.length
        ? leading[index] as unknown
        : rest
      const found = this.at(own, each, below(path, String(index)))
      if (found !== undefined) return found
    }
    return undefined
  }

  #combined(schema: Schema, value: unknown, path: string): Misfit | undefined {
    const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema
    for (const each of Array.isArray(allOf) ? allOf : []) {
      const found = this.at(each, value, path)
      if (found !== undefined) return found
    }
    if (Array.isArray(anyOf) && !anyOf.some((each) => this.#fits(each, value))) {
      return { path, reason: 'fits none of anyOf' }
    }
    if (Array.isArray(oneOf) && oneOf.filter((each) => this.#fits(each, value)).length !== 1) {
      return { path, reason: 'does not fit one of oneOf alone' }
    }
    if (not !== undefined && this.#fits(not, value)) return { path, reason: 'fits what it may not' }
    if (condition === undefined) return undefined
    return this.at(this.#fits(condition, value) ? then : otherwise, value, path)
  }
}

/** Steps that it takes to look at a value itself: lists of a schema and texts are gone through. */
function stepsOf({ $ref: ref, type, enum: values, required, minLength, maxLength }: Schema,
  value: unknown): number {
  const listed = [type, values, required].reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
    1,
  )
  const isMeasured = minLength !== undefined || maxLength !== undefined
  const measured = isMeasured && typeof value === 'string' ? value.length : 0
  const named = typeof ref === 'string' ? ref.length : 0
  return listed + Math.floor(measured / measuredOfStep) + Math.floor(named / namedOfStep)
}

const bounds: readonly (readonly [string, (value: unknown, bound: number) => boolean])[] = [
  ['minimum', (value, bound) => typeof value !== 'number' || value >= bound],
  ['maximum', (value, bound) => typeof value !== 'number' || value <= bound],
  ['exclusiveMinimum', (value, bound) => typeof value !== 'number' || value > bound],
  ['exclusiveMaximum', (value, bound) => typeof value !== 'number' || value < bound],
  ['minLength', (value, bound) => typeof value !== 'string' || hasAtLeast(value, bound)],
  ['maxLength',
    (value, bound) => typeof value !== 'string' || !hasAtLeast(value, Math.floor(bound) + 1)],
  ['minItems', (value, bound) => !Array.isArray(value) || value.length >= bound],
  ['maxItems', (value, bound) => !Array.isArray(value) || value.length <= bound],
  ['minProperties', (value, bound) => !isObject(value) || Object.keys(value).length >= bound],
  ['maxProperties', (value, bound) => !isObject(value) || Object.keys(value).length <= bound],
]

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** True if a text has so many characters at least. Two UTF-16 units may be one. */
function hasAtLeast(text: string, count: number): boolean {
  if (text.length < count || text.length >= 2 * count) return text.length >= count
  let characters = 0
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) characters++
  return characters >= count
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
