/** Documentation of operations: records with a name are written once. */

import { operations } from '../../api/index.ts'
import type { NamedOperation, Operation } from '../../api/index.ts'
import { eventStream, failureAnswer, goodAnswer, headersNamed } from './route.ts'

/** Schemas of records that have a name, for `$ref`. */
export function namedRecords(): readonly object[] {
  const found = new Map<string, object>()
  for (const { operation: { answer, also = {} } } of operations) {
    for (const each of [answer, ...Object.values(also)]) collect(each, found)
  }
  return [...found.values()]
}

/** The part of a route's schema that only documents. */
export function documented({ operation, name, resource }: NamedOperation): object {
  const { summary, access, returns = [] } = operation
  const headers = headersNamed(...returns, 'x-request-id')
  return {
    operationId: name,
    tags: [resource],
    summary,
    response: { ...othersOf(operation, headers), default: failureAnswer,
      [statusOf(operation)]: { ...goodOf(operation), headers } },
    ...access === 'public' && { security: [] },
  }
}

function goodOf({ answer, events, media, status }: Operation): object {
  if (events !== undefined) return goodAnswer(eventStream, events)
  if (media !== undefined) {
    return { description: 'The file.', content: { [media]: { schema: { type: 'string' } } } }
  }
  if (status === 302) return { description: 'Leads to another address.', type: 'null' }
  return answer === undefined ? { description: 'Done.', type: 'null' } : jsonOf(answer)
}

function othersOf({ also = {} }: Operation, headers: object): object {
  return Object.fromEntries(
    Object.entries(also).map(([status, answer]) => [status, { ...jsonOf(answer), headers }]),
  )
}

function jsonOf(answer: object): object {
  const { description = 'The answer.' } = answer as { readonly description?: string }
  return { description, ...linked(answer) as object }
}

/** The status of a good answer. */
export function statusOf({ status, answer, events, media }: Operation): number {
  return status ?? ([answer, events, media].every((each) => each === undefined) ? 204 : 200)
}

/** A schema that refers to the records in it. */
function linked(schema: unknown): unknown {
  return idOf(schema) === undefined ? mapped(schema, linked) : { $ref: `${idOf(schema)}#` }
}

function collect(schema: unknown, found: Map<string, object>): void {
  const id = idOf(schema)
  if (id !== undefined && found.has(id)) return
  if (id !== undefined) found.set(id, mapped(schema, linked) as object)
  mapped(schema, (part) => collect(part, found))
}

function idOf(schema: unknown): string | undefined {
  return (schema as { readonly $id?: string } | undefined)?.$id
}

function mapped(schema: unknown, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(schema)) return schema.map(change)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, change(part)]))
}
