/** Selects the heads that meet a test. */

import type { Env } from '../../../cluster/index.ts'
import type { SpanPort } from '../spans/span-port.ts'
import type { SpanHead } from '../spans/span.ts'
import type { OwnTraces } from './own/own-traces.ts'
import type { Payloads } from './payload/payloads.ts'
import type { SpanTest } from './filter/test-span.ts'

/** Store and payloads that scans read from. */
export interface ScanParts {
  readonly store: Pick<SpanPort, 'scan' | 'locate' | 'heads' | 'trace' | 'files'>
  readonly payloads: Payloads
  /** Traces of runs of this server; missing where none are known. */
  readonly own?: OwnTraces
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs'>
}

/** The payloads for an answer: those of own runs are among them. */
export function shownBy({ own, payloads }: Pick<ScanParts, 'own' | 'payloads'>): Payloads {
  return own?.shown ?? payloads
}

/** The heads that pass a test. Payloads are opened only where the head does not decide. */
export async function matching(heads: readonly SpanHead[], test: SpanTest, payloads: Payloads,
  signal?: AbortSignal): Promise<readonly SpanHead[]> {
  const results = heads.map((head) => test(head))
  const open = heads.filter((_, index) => results[index] === undefined)
  const found = new Set<SpanHead>()
  for await (const [head, content] of payloads.of(open)) {
    signal?.throwIfAborted()
    if (test(head, content) === true) found.add(head)
  }
  return heads.filter((head, index) => results[index] === true || found.has(head))
}
