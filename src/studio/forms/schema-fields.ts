/** Fields of a form for a JSON Schema: one at a time, so that a schema may contain itself. */

import type { Json, JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'

/** One field of a form. What no other kind fits is edited as JSON. */
export type Field =
  | { readonly kind: 'text'; readonly format: TextFormat; readonly grows: boolean }
  | { readonly kind: 'number'; readonly whole: boolean; readonly min?: number;
    readonly max?: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly options: readonly Json[] }
  | { readonly kind: 'list'; readonly item: JsonObject }
  | { readonly kind: 'object'; readonly parts: readonly Part[] }
  | { readonly kind: 'json' }

/** Formats of texts for which browsers have a control. */
export type TextFormat = 'text' | 'email' | 'url' | 'date' | 'password'

/** A property of an object. */
export interface Part {
  readonly name: string
  readonly schema: JsonObject
  readonly required: boolean
}

/** A field with what all kinds have. */
export interface SchemaField {
  readonly field: Field
  readonly title: string | undefined
  readonly hint: string | undefined
  readonly isNullable: boolean
  readonly initial: Json | undefined
  /** The schema behind references, for checks. */
  readonly schema: JsonObject
}

const hopsMax = 16
/** Levels of objects that a form begins with. */
const levelsMax = 4
const formats: Readonly<Record<string, TextFormat>> = { email: 'email', uri: 'url', url: 'url',
  date: 'date', password: 'password' }

/** The field of a schema. `root` holds what `$ref` names. Anything that is no schema is JSON. */
export function fieldOf(schema: unknown, root: unknown): SchemaField {
  const { schema: plain, isNullable } = withoutNull(resolved(schema, root), root)
  return {
    field: kindOf(plain),
    title: textIn(plain, 'title'),
    hint: textIn(plain, 'description'),
    isNullable,
    initial: plain['default'],
    schema: plain,
  }
}

/** Words for a name: `notify_subscribers` and `notifySubscribers` are "Notify subscribers". */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_-]+/g, ' ').trim()
  if (words === '') return name
  return words[0]!.toUpperCase() +
    words.slice(1).replaceAll(/ [A-Z](?=[a-z])/g, (each) => each.toLowerCase())
}

/** First value of a form without one: defaults, in objects that must be there. */
export function initialValue(schema: unknown, root: unknown, depth = 0): Json | undefined {
  const { field, initial, isNullable } = fieldOf(schema, root)
  if (initial !== undefined) return initial
  if (isNullable || field.kind === 'json' || depth > levelsMax) return undefined
  if (field.kind !== 'object') return depth === 0 && field.kind === 'list' ? [] : undefined
  return Object.fromEntries(field.parts.flatMap(({ name, schema: part, required }) => {
    const value = initialValue(part, root, depth + 1)
    const isEmpty = isObject(value) && Object.keys(value).length === 0
    return value === undefined || (isEmpty && !required) ? [] : [[name, value]]
  }))
}

/** A schema for a value that came without one. */
export function schemaOfValue(value: unknown): JsonObject {
  switch (typeof value) {
    case 'string':
      return { type: 'string' }
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return { type: 'number' }
  }
  if (Array.isArray(value)) {
    const [first] = value as unknown[]
    const isPlain = value.every((each) => typeof each === typeof first && typeof each !== 'object')
    return value.length > 0 && isPlain ? { type: 'array', items: schemaOfValue(first) } : {}
  }
  if (!isObject(value)) return {}
  return { type: 'object', properties: Object.fromEntries(Object.entries(value)
    .map(([name, each]) => [name, schemaOfValue(each)])) }
}

/** True if a value may be shown by a field of this kind; otherwise it is shown as JSON. */
export function fits({ field }: SchemaField, value: unknown): boolean {
  if (value === undefined || value === null) return true
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' &&
        (field.format !== 'date' || value === '' || /^\d{4}-\d\d-\d\d$/.test(value)) &&
        (field.grows || !/[\r\n]/.test(value))
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'choice':
      return field.options.some((option) => option === value)
    case 'list':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'json':
      return true
  }
}

function kindOf(schema: JsonObject): Field {
  const { enum: options, const: only, properties, items, format } = schema
  if (Array.isArray(options) && options.length > 0 && options.every(isPlain)) {
    return { kind: 'choice', options }
  }
  if (only !== undefined && isPlain(only)) return { kind: 'choice', options: [only] }
  switch (schema['type'] ?? (isObject(properties) ? 'object' : undefined)) {
    case 'string':
      return textField(schema, typeof format === 'string' ? format : '')
    case 'integer':
    case 'number':
      return { kind: 'number', whole: schema['type'] === 'integer',
        ...bound('min', schema['minimum']), ...bound('max', schema['maximum']) }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return isObject(items)
        ? { kind: 'list', item: items as JsonObject }
        : { kind: 'json' }
    case 'object':
      return objectField(schema)
    default:
      return { kind: 'json' }
  }
}

/** Texts grow with their lines, unless the schema says that they are short. */
function textField({ maxLength }: JsonObject, format: string): Field {
  const known = formats[format] ?? 'text'
  const isShort = known !== 'text' || format !== '' ||
    (typeof maxLength === 'number' && maxLength <= 80)
  return { kind: 'text', format: known, grows: !isShort }
}

/** An object of any keys is no form. A property with a default need not be given. */
function objectField({ properties, required }: JsonObject): Field {
  if (!isObject(properties) || Object.keys(properties).length === 0) return { kind: 'json' }
  const names = new Set(Array.isArray(required) ? required : [])
  return { kind: 'object', parts: Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: isObject(schema) ? schema as JsonObject : {},
    required: names.has(name) && !(isObject(schema) && Object.hasOwn(schema, 'default')),
  })) }
}

/** Bounds that every number of JSON has are not worth a word. */
const bound = (name: 'min' | 'max', value: Json | undefined) =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? { [name]: value } : {}

/** Follows references into the root, and no others: a form never loads anything. */
function resolved(schema: unknown, root: unknown): JsonObject {
  let found = schema
  for (let hops = 0; hops < hopsMax; hops++) {
    if (!isObject(found)) return {}
    const { $ref: reference, allOf, ...rest } = found
    if (typeof reference === 'string') found = { ...pointed(root, reference), ...rest }
    else if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0])) {
      found = { ...allOf[0], ...rest }
    } else return found as JsonObject
  }
  return {}
}

function pointed(root: unknown, reference: string): object {
  if (!reference.startsWith('#')) return {}
  let place: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return {}
    place = (place as Record<string, unknown>)[name]
  }
  return isObject(place) ? place : {}
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Takes null out of a choice of types; choices of constants become one list of choices. */
function withoutNull(schema: JsonObject, root: unknown): {
  readonly schema: JsonObject
  readonly isNullable: boolean
} {
  const { type, anyOf, oneOf, ...rest } = schema
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null')
    const isNullable = others.length < type.length
    return { schema: others.length === 1 ? { ...rest, type: others[0]! } : rest, isNullable }
  }
  const variants = anyOf ?? oneOf
  if (!Array.isArray(variants)) return { schema, isNullable: false }
  const others = variants.map((each) => resolved(each, root)).filter((each) =>
    each['type'] !== 'null'
  )
  const isNullable = others.length < variants.length
  if (others.length === 1) return { schema: { ...others[0]!, ...rest }, isNullable }
  const constants = others.map((each) => each['const'])
  return constants.every((each) => each !== undefined && isPlain(each))
    ? { schema: { ...rest, enum: constants as Json[] }, isNullable }
    : { schema: rest, isNullable }
}

const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object'

function textIn(schema: JsonObject, name: string): string | undefined {
  const value = schema[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
