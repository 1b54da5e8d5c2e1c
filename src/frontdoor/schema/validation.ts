/** Checks requests against their schemas, and names every field that is wrong. */

import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Errors } from 'typebox/value'

import { extractPath, statePart } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { isObject, nestedInLists } from '../../json/index.ts'
import { textOf } from '../../raw-json.ts'
import { isLongJson } from './long-json.ts'
import { onlyDeclaredOf } from './undeclared.ts'
import type { UndeclaredMembers } from './undeclared.ts'

/** One wrong field. Its path is joined by dots. */
export interface Fault {
  readonly field: string
  readonly message: string
}

/** Returns the checked value. Throws `invalid` with `errors: Fault[]` among its details. */
export type Checker<Value> = (value: unknown) => Value

const checkers = { refused: new WeakMap<TObject, Checker<unknown>>(),
  dropped: new WeakMap<TObject, Checker<unknown>>() } as const

/**
 * The checker of a schema. Members that the schema does not declare are left out, or refused; free
 * JSON is kept. Fields that the schema lists under `x-not-offered` are refused, because ignoring
 * them would promise what is not kept. No body counts as `{}`. UUIDs are returned in lower case.
 */
export function checkerOf<Schema extends TObject>(schema: Schema,
  undeclared: UndeclaredMembers = 'dropped'): Checker<Static<Schema>> {
  const known = checkers[undeclared].get(schema)
  if (known !== undefined) return known as Checker<Static<Schema>>
  const compiled = Compile(schema)
  const onlyDeclared = onlyDeclaredOf(schema)
  const uuids = Object.entries(schema.properties).flatMap(([name, property]) =>
    isOfUuids(property) ? [name] : []
  )
  const checker = (value: unknown) => {
    let given: object = value ?? {}
    const crowd = crowdIn(schema, given, '')
    if (crowd !== undefined) throw invalid([crowd])
    if (!compiled.Check(given)) throw invalid(faultsIn(schema, given))
    refuseUnoffered(schema, given)
    const strays: string[] = []
    given = (onlyDeclared?.(given, '', (field) => strays.push(field)) ?? given) as object
    if (undeclared === 'refused' && strays.length > 0) {
      throw invalid(
        strays.slice(0, strayFaultsMax).map((field) => ({ field: shortened(field),
          message: 'is not a member of this request' })
        ),
      )
    }
    for (const name of uuids) given = inSmallLetters(given, name)
    return given as Static<Schema>
  }
  checkers[undeclared].set(schema, checker)
  return checker
}

/** Undeclared members that are named of one request, and characters of each. */
const [strayFaultsMax, strayCharactersMax] = [20, 200]

function shortened(field: string): string {
  return field.length > strayCharactersMax ? `${field.slice(0, strayCharactersMax)}…` : field
}

/** The parts of a schema that are read here. */
interface Shape {
  readonly maxProperties?: number
  /** Longest JSON text of an object, in characters. */
  readonly 'x-max-characters'?: number
  readonly properties?: Readonly<Record<string, Shape>>
  readonly anyOf?: readonly Shape[]
  readonly type?: string
}

/**
 * Finds the first object with too many keys or with too long a text. Runs before all other checks:
 * to check and quote an object of a million keys takes seconds, and blocks all other requests.
 */
function crowdIn(
  { maxProperties = Infinity, properties = {}, anyOf = [],
    'x-max-characters': charactersMax = Infinity }: Shape,
  value: unknown,
  field: string,
): Fault | undefined {
  if (!isObject(value)) return undefined
  if (maxProperties < Infinity && Object.keys(value).length > maxProperties) {
    return { field, message: `must not have more than ${maxProperties} properties` }
  }
  if (charactersMax < Infinity && isLongJson(value, charactersMax)) {
    return { field, message: `must not be longer than ${charactersMax / 1024} KB of JSON` }
  }
  const isNullable = anyOf.some(({ type }) => type === 'null')
  for (const variant of isNullable ? anyOf : []) {
    const crowd = crowdIn(variant, value, field)
    if (crowd !== undefined) return crowd
  }
  for (const name in properties) {
    const crowd = Object.hasOwn(value, name) &&
      crowdIn(properties[name]!, value[name], field ? `${field}.${name}` : name)
    if (crowd) return crowd
  }
  return undefined
}

/** True for a field that is a UUID, a list of UUIDs, or null. */
function isOfUuids(schema: TSchema): boolean {
  const { format, items, anyOf = [] } = schema as { format?: string; items?: TSchema;
    anyOf?: TSchema[] }
  return format === 'uuid' || [...anyOf, ...items ? [items] : []].some(isOfUuids)
}

function inSmallLetters(given: object, name: string): object {
  const value = (given as Readonly<Record<string, unknown>>)[name]
  const small = Array.isArray(value)
    ? (value as string[]).map((each) => each.toLowerCase())
    : typeof value === 'string'
    ? value.toLowerCase()
    : value
  return small === value ? given : { ...given, [name]: small }
}

/** Bounded, because each is compared with every element of a list, in every document searched. */
const nestedInListsMax = 64
/** Characters of a filter as JSON. Bounded, because all of it is compared with every document. */
const filterMax = 16 * 1024

/** Throws `invalid` for a filter that would take too long to search for. */
export function requireSimple(field: string, filter: unknown): void {
  if (filter !== undefined && JSON.stringify(filter).length > filterMax) {
    throw invalid([{ field, message: `may be ${filterMax} characters of JSON at most` }])
  }
  if (nestedInLists(filter) <= nestedInListsMax) return
  const message = `may hold ${nestedInListsMax} objects or lists inside of lists at most, ` +
    'and all that these hold counts'
  throw invalid([{ field, message }])
}

/** The error for a request with these faults. */
export function invalid(faults: readonly Fault[]): HeddleError {
  const text = faults.map(({ field, message }) => field ? `${field}: ${message}` : message)
  return new HeddleError('invalid', `${text.join('; ')}.`, { errors: faults })
}

/** At most one fault a field. So the list is never longer than the schema. */
function faultsIn(schema: TObject, value: unknown): Fault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ field: '', message: 'The body must be a JSON object' }]
  }
  const given = value as Readonly<Record<string, unknown>>
  const required = new Set<string>(schema.required)
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    if (given[name] !== undefined) return faultOf(name, property, given[name])
    return required.has(name) ? [{ field: name, message: 'is required' }] : []
  })
}

type SchemaError = ReturnType<typeof Errors>[number]

/**
 * Characters of a value that is explained in detail. Longer ones would take memory for each fault.
 */
const explainedMax = 256 * 1024

/** Reports the deepest errors. In a union, they belong to the variant that was probably meant. */
function faultOf(name: string, schema: TSchema, value: unknown): Fault[] {
  if (typeof value === 'object' && textOf(value).length > explainedMax) {
    if (Compile(schema).Check(value)) return []
    return [{ field: name, message: 'is wrong somewhere, and too long to say where' }]
  }
  const errors = Errors(schema, value).filter(({ keyword }) => keyword !== 'anyOf')
  const places = errors.map(placeOf)
  const depth = (place: string) => place.split('/').length
  const [first] = places
  if (first === undefined) return []
  const deepest = places.reduce((found, each) => depth(each) > depth(found) ? each : found, first)
  const there = errors.filter((_, i) => places[i] === deepest)
  return [{ field: `${name}${deepest.replaceAll('/', '.')}`, message: messageOf(there) }]
}

/** Path of an error. For a missing field it is the path of that field. */
function placeOf({ keyword, instancePath, params }: SchemaError): string {
  return keyword === 'required' ? `${instancePath}/${params.requiredProperties[0]}` : instancePath
}

const nouns: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'a boolean',
}

/** Says which types are allowed. If the type is right, says what else is wrong. */
function messageOf(errors: readonly SchemaError[]): string {
  const words = errors.flatMap((error) =>
    error.keyword === 'enum'
      ? [`one of ${error.params.allowedValues.join(', ')}`]
      : error.keyword === 'const'
      ? [JSON.stringify(error.params.allowedValue)]
      : []
  )
  const types = errors
    .flatMap((error) => error.keyword === 'type' ? [error.params.type].flat() : [])
    .filter((type) => type !== 'null' && !(type === 'string' && words.length > 0))
  const wrong = errors.find(({ keyword }) => !['enum', 'const', 'type'].includes(keyword))
  if (wrong !== undefined) return messageText(wrong)
  const choices = [...words, ...types.map((type) => nouns[type] ?? type)]
  return `must be ${[...new Set(choices)].join(' or ')}`
}

function messageText(error: SchemaError): string {
  if (error.keyword === 'required') return 'is required'
  if (error.keyword === 'format' && error.params.format === 'uuid') return 'must be a UUID'
  if (error.keyword === 'pattern') {
    const known = [extractPath, statePart].find(({ pattern }) => pattern === error.params.pattern)
    if (known) return known.words
  }
  if (error.keyword === 'minLength' && error.params.limit === 1) return 'must not be empty'
  return error.message
}

function refuseUnoffered(schema: TObject, value: object): void {
  const unoffered = (schema as { 'x-not-offered'?: readonly string[] })['x-not-offered'] ?? []
  const sent = unoffered.filter((name) => isSaid((value as Record<string, unknown>)[name]))
  if (sent.length === 0) return
  const errors = sent.map((field) => ({ field, message: 'is not supported' }))
  const names = sent.join(', ')
  throw new HeddleError('unsupported', `Not supported: ${names}. Send the request without.`, {
    errors,
  })
}

/** True for a value that asks for something. Clients send `null`, `[]` and `false` for nothing. */
function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false &&
    !(Array.isArray(value) && value.length === 0)
}
