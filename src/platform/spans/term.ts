/** Terms: hashes of what a span has, so that a filter finds and decides equality without a text. */

import { hash } from 'node:crypto'

import type { Term, Uuid } from './span.ts'

/** The terms of what a span has. Scalars of metadata are written as JSON has them. */
export const termOf = {
  name: (name: string) => hashed(`name:${name}`),
  error: hashed('error'),
  /** A run of this server: no client can say that of a span. */
  own: hashed('own'),
  thread: (thread: string) => hashed(`thread:${thread}`),
  tag: (tag: string) => hashed(`tag:${tag}`),
  metadataKey: (key: string) => hashed(`m:${key}`),
  /** A text is compared as it is, other scalars by their JSON: `true` is also `"true"`. */
  metadata: (key: string, value: string) => hashed(`m:${key}=${value}`),
  example: (example: Uuid) => hashed(`ex:${example}`),
  feedback: (key: string) => hashed(`fb:${key}`),
} as const

/** A signed number of 64 bits, as SQLite and Cassandra have it. */
function hashed(text: string): Term {
  return hash('sha256', text, 'buffer').readBigInt64BE()
}
