/** How operations appear in the documentation: records with a name are written once. */

import type { TSchema } from 'typebox'

import { operations } from '../../api/index.ts'
import type { NamedOperation } from '../../api/index.ts'
import { failureAnswer, headersNamed } from './route.ts'

/** Schemas of records that have a name, for `$ref`. */
export function namedRecords(): readonly object[] {
  const found = new Map<string, object>()
  for (const { operation } of operations) collect(operation.answer, found)
  return [...found.values()]
}

/** The part of a route's schema that only documents. */
export function documented({ operation, name, resource }: NamedOperation): object {
  const { answer, summary, access, returns = [] } = operation
  const headers = headersNamed(...returns, 'x-request-id')
  const good = answer === undefined
    ? { description: 'Done.', type: 'null' }
    : { ...wordsOf(answer), ...linked(answer) as object }
  return {
    operationId: name,
    tags: [resource],
    summary,
    response: { [statusOf(operation)]: { ...good, headers }, default: failureAnswer },
    ...access === 'public' && { security: [] },
  }
}

/** The status of a good answer. */
export function statusOf({ status, answer }: NamedOperation['operation']): number {
  return status ?? (answer === undefined ? 204 : 200)
}

/** A record with a name has a description of its own. */
function wordsOf(answer: TSchema): object {
  if (idOf(answer) !== undefined) return {}
  return { description: 'items' in answer ? 'A list.' : 'The answer.' }
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
