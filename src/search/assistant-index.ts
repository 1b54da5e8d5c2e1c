/** Finding assistants: rows by id, search, count. */

import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'

export type AssistantSort = 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at'

/** Every condition must hold. `name` is a part of it, in any case; metadata is containment. */
export interface AssistantFilter {
  readonly tenant: string
  readonly graphId?: string
  readonly name?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface AssistantQuery extends AssistantFilter {
  readonly sortBy: AssistantSort
  readonly sortOrder: 'asc' | 'desc'
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** Throws `too_large`, with their number as the fact `bytes`, if the rows have more bytes. */
  readonly bytes?: number
}

export interface AssistantIndex extends AssistantSearch {
  get(tenant: string, assistantId: string): Promise<AssistantRow | undefined>
}

export interface AssistantSearch {
  search(query: AssistantQuery,
    cancelled?: AbortSignal): Promise<{ rows: AssistantRow[]; total: number }>
  count(filter: AssistantFilter, cancelled?: AbortSignal): Promise<number>
}
