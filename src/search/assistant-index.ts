/** The port for finding assistants: by id, by name and metadata, and counts. */

import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'
import type { MetadataFilter } from './metadata-filter.ts'

/** Column by which a search sorts; equal rows are sorted by id. */
export type AssistantSort = 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at'

/**
 * A filter. Every condition must hold. `name` is a part of it, in any case; metadata is
 * containment.
 */
export interface AssistantFilter {
  readonly tenant: string
  readonly graphId?: string
  readonly name?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Only assistants that the caller may see; all by default. */
  readonly allowed?: MetadataFilter | undefined
}

/** A page of a search. */
export interface AssistantQuery extends AssistantFilter {
  readonly sortBy: AssistantSort
  readonly sortOrder: 'asc' | 'desc'
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/** Finds assistants of a member or a store. */
export interface AssistantIndex extends AssistantSearch {
  /** The newest row of an assistant; undefined if there is none. */
  get(tenant: string, assistantId: string): Promise<AssistantRow | undefined>
}

/** Searches assistants. A store answers for its rows, a scattered index for all members. */
export interface AssistantSearch {
  /** One page, and the number of all assistants that match. */
  search(query: AssistantQuery,
    cancelled?: AbortSignal): Promise<{ rows: AssistantRow[]; total: number }>
  /** The number of assistants that match. */
  count(filter: AssistantFilter, cancelled?: AbortSignal): Promise<number>
}
