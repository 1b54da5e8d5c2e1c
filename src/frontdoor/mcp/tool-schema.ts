/** Schemas of tools: those of graphs, in the form that clients take. Pure. */

import { isObject } from '../../json/index.ts'

type Schema = Readonly<Record<string, unknown>>

/** Schema of a tool whose graph tells nothing of its input. */
const anyObject: Schema = { type: 'object' }

/** Characters of a schema that clients get. A longer one is left out. */
const charactersMax = 64 * 1024

/** The schema of the arguments. They are the input of the graph, which checks them itself. */
export function inputSchemaOf(schema: unknown): Schema {
  return isObject(schema) && mayBeObject(schema) && isShort(schema)
    ? { ...schema, ...anyObject }
    : anyObject
}

/**
 * The schema of the result; undefined if it may be no object. What is answered are the state values
 * at the end: there may be others, and a channel that nothing was written to is absent. Clients
 * refuse an answer that does not fit, so its members are only named.
 */
export function outputSchemaOf(schema: unknown): Schema | undefined {
  if (!isObject(schema) || schema['type'] !== 'object') return undefined
  const { properties } = schema
  if (!isObject(properties) || !isShort(schema)) return undefined
  return { ...anyObject, properties: Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, namedOnly(each)]),
  ) }
}

function namedOnly(schema: unknown): Schema {
  const { title, description } = isObject(schema) ? schema : {}
  return { ...typeof title === 'string' && { title },
    ...typeof description === 'string' && { description } }
}

function mayBeObject({ type }: Schema): boolean {
  return type === undefined || type === 'object'
}

function isShort(schema: Schema): boolean {
  return JSON.stringify(schema).length <= charactersMax
}
