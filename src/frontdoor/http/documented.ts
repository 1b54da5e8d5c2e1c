/** Documentation of operations: records with a name are written once. */

import { Failure, operations } from '../../api/index.ts'
import type { AnswerHeader, NamedOperation, Operation } from '../../api/index.ts'

const answerHeaders: Readonly<
  Record<AnswerHeader | 'x-request-id' | 'retry-after', string>
> = {
  'content-location': 'The path of the run.',
  location: 'Where to resume the stream after a broken connection, with `Last-Event-ID`.',
  'x-heddle-warning': 'What the run does not do, although it starts: breakpoints at unknown nodes.',
  'x-pagination-total': 'How many results there are in all.',
  'x-pagination-next': 'The offset of the next page, if there is one.',
  'x-pagination-cursor': 'What `cursor` takes for the next page, if there is one.',
  'x-request-id': 'The id of the request in logs: the one that it was sent with, or a new one.',
  'retry-after': 'How many seconds to wait before a retry, if a retry may help.',
}

/** Schemas of records that have a name, for `$ref`. */
export function namedRecords(): readonly object[] {
  const found = new Map<string, object>([['Error', Failure]])
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
      [statusOf(operation)]: { ...goodOf(operation), headers }, ...silentOf(operation, headers) },
    ...access === 'public' && { security: [] },
  }
}

function goodOf({ answer, events, media, status }: Operation): object {
  if (events !== undefined) {
    const schema = { type: 'string', description: events }
    return { description: 'The events.', content: { 'text/event-stream': { schema } } }
  }
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

function silentOf({ silent = {} }: Operation, headers: object): object {
  return Object.fromEntries(
    Object.entries(silent).map((
      [status, description],
    ) => [status, { description, type: 'null', headers }]),
  )
}

function jsonOf(answer: object): object {
  const { description = 'The answer.' } = answer as { readonly description?: string }
  return { description, ...linked(answer) as object }
}

/** Documents the headers of answers that have these names. */
function headersNamed(...names: readonly (keyof typeof answerHeaders)[]): object {
  return Object.fromEntries(
    names.map((name) => [name, { type: 'string', description: answerHeaders[name] }]),
  )
}

/** Documents the answer to a request that failed. */
const failureAnswer = { $ref: 'Error#', headers: headersNamed('x-request-id', 'retry-after') }

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
