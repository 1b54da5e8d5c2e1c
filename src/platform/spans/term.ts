/**
 * Terms: hashes of a span's properties, so that filters find spans and decide equality without
 * texts.
 */

import { hash } from 'node:crypto'

import type { Term, Uuid } from './span.ts'

/** The term of each property. Scalars of metadata are written as JSON has them. */
export const termOf = {
  name: (name: string) => hashed(`name:${name}`),
  error: hashed('error'),
  /** A run of this server. Clients cannot set this term. */
  own: hashed('own'),
  /** The recording of a stateless run. Clients cannot set this term. */
  recordedRun: hashed('recorded run'),
  thread: (thread: string) => hashed(`thread:${thread}`),
  tag: (tag: string) => hashed(`tag:${tag}`),
  metadataKey: (key: string) => hashed(`m:${key}`),
  /** A text is compared as it is, other scalars by their JSON: `true` is also `"true"`. */
  metadata: (key: string, value: string) => hashed(`m:${key}=${value}`),
  example: (example: Uuid) => hashed(`ex:${example}`),
  feedback: (key: string) => hashed(`fb:${key}`),
} as const

/** Hash as a signed number of 64 bits, which SQLite and Cassandra store. */
function hashed(text: string): Term {
  return hash('sha256', text, 'buffer').readBigInt64BE()
}
