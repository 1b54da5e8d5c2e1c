/** The payload of a span: members of its operations besides the fields of its head. */

import type { Uuid } from './span.ts'

/** Members of an operation, as the JSON texts that clients sent. */
export const payloadFields = ['inputs', 'outputs', 'extra', 'error', 'events', 'serialized', 'tags',
  'rest'] as const

/** A member of a payload. `rest` is an object with all members that nothing else keeps. */
export type PayloadField = (typeof payloadFields)[number]

/** Payload of one operation on one span. */
export interface PayloadPart {
  readonly span: Uuid
  readonly kind: 'post' | 'patch'
  /** JSON in UTF-8. */
  readonly members: Readonly<Partial<Record<PayloadField, Buffer>>>
}

/** Payload of a span from all its operations. Members are JSON in UTF-8. */
export type Payload = Readonly<Partial<Record<PayloadField, Buffer>>>

/**
 * The payload of a span. Parts are in the order in which they arrived. A patch wins over a post, a
 * later patch over an earlier one, and the first post over others.
 */
export function payloadOf(parts: readonly PayloadPart[]): Payload {
  const posts = parts.filter(({ kind }) => kind === 'post').reverse()
  const patches = parts.filter(({ kind }) => kind === 'patch')
  return Object.assign({}, ...[...posts, ...patches].map(({ members }) => members)) as Payload
}
