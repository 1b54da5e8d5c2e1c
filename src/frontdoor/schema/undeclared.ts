/** Members that the schema of a request does not declare: they are refused, or left out. */

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import { isObject } from '../../json/index.ts'

/**
 * refused  by the control API: a misspelt member must not mean another one, or nothing
 * dropped  by routes that clients of others call: those of a newer version are never refused
 */
export type UndeclaredMembers = 'refused' | 'dropped'

/** Treatment of members that the schemas of the routes with this path do not declare. */
export function undeclaredAt(path: string): UndeclaredMembers {
  return path.startsWith('/control/v1/') ? 'refused' : 'dropped'
}

/** Called with the path of the first member of each object that is left out, joined by dots. */
type Note = (field: string) => void

/** Returns a value without undeclared members: the same one if it has none. */
export type OnlyDeclared = (value: unknown, field: string, note: Note) => unknown

/** The parts of a schema that say which members a value has. */
interface Shape {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly patternProperties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: boolean | Shape
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

/** Keywords of JSON Schema that declare members in ways that are not read here. */
const unread = ['$ref', 'allOf', 'oneOf', 'if', 'not', 'prefixItems', 'unevaluatedProperties']

/**
 * Makes a function that leaves out undeclared members of values with this schema; undefined if
 * there are none to leave out, as of free JSON. Values are checked before. Throws for a schema that
 * it cannot read.
 */
export function onlyDeclaredOf(schema: Shape): OnlyDeclared | undefined {
  const keyword = unread.find((each) => each in schema)
  if (keyword !== undefined) throw new Error(`Members below ${keyword} would not be known.`)
  if (schema.anyOf !== undefined) return ofUnion(schema.anyOf)
  if (schema.type === 'array') return schema.items && ofList(schema.items)
  return schema.type === 'object' ? ofObject(schema) : undefined
}

function ofObject(shape: Shape): OnlyDeclared | undefined {
  const { properties = {}, patternProperties, additionalProperties = false } = shape
  const inner = new Map(Object.entries(properties)
    .map(([name, each]) => [name, onlyDeclaredOf(each)] as const))
  const isFree = patternProperties !== undefined || additionalProperties !== false
  if (isFree && [...inner.values()].every((each) => each === undefined)) return undefined
  const below = (field: string, name: string) => field === '' ? name : `${field}.${name}`
  return (value, field, note) => {
    if (!isPlain(value)) return value
    const stray = isFree ? undefined : Object.keys(value).find((name) => !inner.has(name))
    if (stray !== undefined) note(below(field, stray))
    // Made of what is declared: there may be a million others.
    let kept = stray === undefined ? undefined : pick(value, inner.keys())
    for (const [name, onlyDeclared] of inner) {
      if (onlyDeclared === undefined || !Object.hasOwn(value, name)) continue
      const part = onlyDeclared(value[name], below(field, name), note)
      if (part !== value[name]) (kept ??= { ...value })[name] = part
    }
    return kept ?? value
  }
}

function pick(value: Readonly<Record<string, unknown>>,
  names: Iterable<string>): Record<string, unknown> {
  return Object.fromEntries([...names].filter((name) => Object.hasOwn(value, name))
    .map((name) => [name, value[name]]))
}

function ofList(items: Shape): OnlyDeclared | undefined {
  const inner = onlyDeclaredOf(items)
  return inner && ((value, field, note) => {
    if (!Array.isArray(value)) return value
    const parts = value.map((each, index) => inner(each, `${field}.${index}`, note))
    return parts.some((part, index) => part !== value[index]) ? parts : value
  })
}

/** Of several variants, the first that a value fits says what it may have. */
function ofUnion(variants: readonly Shape[]): OnlyDeclared | undefined {
  const inner = variants.map((each) => ({ fits: fitOf(each, variants),
    onlyDeclared: onlyDeclaredOf(each) })
  )
  if (inner.every(({ onlyDeclared }) => onlyDeclared === undefined)) return undefined
  return (value, field, note) => {
    if (typeof value !== 'object' || value === null) return value
    const first = inner.find(({ fits }) => fits(value))
    return first?.onlyDeclared ? first.onlyDeclared(value, field, note) : value
  }
}

/** By its type alone, where no other variant has that type. */
function fitOf(shape: Shape, variants: readonly Shape[]): (value: object) => boolean {
  const { type } = shape
  const isAlone = type !== undefined
    && variants.every((each) => each === shape || each.type !== undefined && each.type !== type)
  if (isAlone) return (value) => type === (Array.isArray(value) ? 'array' : 'object')
  const compiled = Compile(shape as TSchema)
  return (value) => compiled.Check(value)
}

/** Long values that stay text until they are read are objects of a class: they are free. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
