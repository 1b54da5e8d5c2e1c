/** Writes down which spans ended, for the rules of their projects. Runs in the ingest thread. */

import type { Env } from '../../../../cluster/index.ts'
import type { Document, DocumentPort } from '../../spans/document-port.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Calls } from '../../calls/calls.ts'
import { batchSpans, endedDocument, endedPlace, hourOf } from './ended-span.ts'
import type { EndedSpan } from './ended-span.ts'

/** Calls of the main thread that notes of ended spans need. */
export interface EndedNeeds {
  /** Says that rules have something to read. */
  ended(call: { readonly tenant: string; readonly rules: readonly Uuid[] }): Promise<void>
}

/** Ports that ends are written with. */
export interface EndedParts {
  readonly documents: Pick<DocumentPort, 'putDocuments'>
  readonly needs: Calls<EndedNeeds>
  /** A time that rises. */
  readonly nextUs: () => number
  readonly env: Pick<Env, 'monotonicMs' | 'log'>
}

/**
 * Milliseconds that a write may take. Rules read what is older than their lag, so that ends which
 * were written later than this are written again: with a time as far ahead as that took.
 */
const punctualMs = 1_500
const triesMax = 5

/** The ends of spans that rules read. */
export class EndedSpans {
  readonly #parts: EndedParts

  constructor(parts: EndedParts) {
    this.#parts = parts
  }

  /** Durable when it resolves. The rules are woken then. */
  async note(tenant: string, spans: readonly EndedSpan[]): Promise<void> {
    const owners = new Map<Uuid, EndedSpan[]>()
    const rules = new Set<Uuid>()
    for (const span of spans) {
      for (const { owner, rules: ids } of span.readers) {
        const own = owners.get(owner) ?? []
        owners.set(owner, own)
        own.push(span)
        for (const id of ids) rules.add(id)
      }
    }
    if (owners.size === 0) return
    await Promise.all([...owners].map(([owner, own]) => this.#write(tenant, owner, own)))
    this.#parts.needs.ended({ tenant, rules: [...rules] }).catch((error: unknown) => {
      this.#parts.env.log.debug('Rules could not be woken.', { error })
    })
  }

  async #write(tenant: string, owner: Uuid, spans: readonly EndedSpan[]): Promise<void> {
    const { documents, env, nextUs } = this.#parts
    let aheadMs = 0
    for (let tried = 1; tried <= triesMax; tried++) {
      const atMs = env.monotonicMs()
      const atUs = nextUs() + aheadMs * 1_000
      await documents.putDocuments(endedPlace(tenant, owner, hourOf(atUs)),
        documentsOf(spans, atUs))
      const tookMs = env.monotonicMs() - atMs
      if (tookMs <= punctualMs + aheadMs) return
      aheadMs = Math.ceil(2 * tookMs)
    }
    env.log.warn('Ends of spans are written so slowly that rules may miss some.')
  }
}

function documentsOf(spans: readonly EndedSpan[], atUs: number): readonly Document[] {
  return [...Map.groupBy(spans, ({ place }) => place.project)].flatMap(([project, own]) => {
    const names = [...new Map(own.map(({ place: { id, trace } }) => [id, { id, trace }])).values()]
    return Array.from({ length: Math.ceil(names.length / batchSpans) },
      (_, at) => endedDocument(atUs, project, names.slice(at * batchSpans, (at + 1) * batchSpans)))
  })
}
