/**
 * Questions about the thread as it was when one of its runs began, and their answers. A run whose
 * process ended was started again: then it is the last start that counts.
 */

import { deserialize } from 'node:v8'

import type { JsonText, StoredTuple, TupleQuery } from '../../checkpoint/index.ts'
import type { RunRequest } from '../../graph/index.ts'

/** Part of a run's beginning that is asked for. */
export type ReplayReading =
  | { readonly kind: 'begin' }
  | { readonly kind: 'tuple'; readonly ns: string; readonly checkpointId: string | null }
  | { readonly kind: 'list'; readonly query: TupleQuery }

/** A run as it was begun, and how it ended. */
export interface ReplayBegin {
  readonly graphId: string
  readonly request: RunRequest
  /** The head of its thread then; null for a thread without a checkpoint. */
  readonly headId: string | null
  readonly startedAtMs: number
  readonly status: string
  /** `{"error": name, "message": text}` if the run failed; empty otherwise. */
  readonly errorJson: string
  readonly finalCheckpointId: string
  /** JSON object of the state values at its end that no checkpoint contains. */
  readonly untracked?: JsonText | undefined
  /** Number of its starts. */
  readonly starts: number
  /** The revision that executed it; empty for none. */
  readonly revision: string
}

/** Answer about a run's beginning. Tuples are packed, as members hand each other JSON. */
export interface ReplayAnswer {
  readonly begin?: ReplayBegin
  readonly packed?: string
}

/** The tuples of an answer. */
export function tuplesIn({ packed = '' }: ReplayAnswer): StoredTuple[] {
  return packed === '' ? [] : deserialize(Buffer.from(packed, 'base64')) as StoredTuple[]
}
