/** The questions to the index of one member, and its answers. */

import type { AssistantRow, CronRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { TenantUse } from '../limits/index.ts'
import type { AssistantFilter, AssistantQuery, AssistantSearch } from './assistant-index.ts'
import type { CronFilter, CronQuery, CronSearch } from './cron-index.ts'
import type { FoundItem, ItemQuery, ItemSearch, Namespace, NamespaceQuery } from './item-index.ts'
import type { ThreadFilter, ThreadQuery, ThreadSearch } from './thread-index.ts'

/**
 * A question to an index. Questions about what a caller may see have names of their own: a member
 * of the version before does not know them, as it would leave out that condition.
 */
export type IndexQuestion =
  | { readonly kind: 'thread_search'; readonly query: ThreadQuery }
  | { readonly kind: 'thread_count'; readonly query: ThreadFilter }
  | { readonly kind: 'thread_find'; readonly query: ThreadQuery }
  | { readonly kind: 'thread_find_count'; readonly query: ThreadFilter }
  | { readonly kind: 'thread_seen'; readonly query: ThreadQuery }
  | { readonly kind: 'thread_seen_count'; readonly query: ThreadFilter }
  | { readonly kind: 'assistant_search'; readonly query: AssistantQuery }
  | { readonly kind: 'assistant_count'; readonly query: AssistantFilter }
  | { readonly kind: 'assistant_seen'; readonly query: AssistantQuery }
  | { readonly kind: 'assistant_seen_count'; readonly query: AssistantFilter }
  | { readonly kind: 'cron_search'; readonly query: CronQuery }
  | { readonly kind: 'cron_count'; readonly query: CronFilter }
  | { readonly kind: 'cron_seen'; readonly query: CronQuery }
  | { readonly kind: 'cron_seen_count'; readonly query: CronFilter }
  | { readonly kind: 'item_search'; readonly query: ItemQuery }
  | { readonly kind: 'item_words'; readonly query: ItemQuery }
  | { readonly kind: 'item_namespaces'; readonly query: NamespaceQuery }
  | { readonly kind: 'tenant_use'; readonly query: { readonly tenant: string } }

/** Row that an index finds. */
export type IndexedRow = ThreadRow | AssistantRow | CronRow | FoundItem

/** The answer of an index. */
export interface IndexAnswer {
  /** Threads, assistants, crons or items, as asked; empty if they were only counted. */
  readonly rows: readonly IndexedRow[]
  /** Number of all rows that match. */
  readonly total: number
  /** Use of the tenant, if that was asked. */
  readonly use?: TenantUse | undefined
  /** The namespaces, if those were asked for. */
  readonly namespaces?: readonly Namespace[]
  /** The shards that were searched, each completely. There are no rows of any other shard. */
  readonly covered: readonly number[]
}

/** The index of what one member owns. */
export interface OwnIndex {
  /** Answers for the shards that are covered at the time. */
  answer(question: IndexQuestion): Promise<IndexAnswer>
}

/** Asks an index that holds rows of all kinds. */
export async function askIndex(
  { threads, assistants, crons, items, use }: { readonly threads: ThreadSearch;
    readonly assistants: AssistantSearch; readonly crons: CronSearch; readonly items: ItemSearch;
    use(tenant: string): Promise<TenantUse> },
  { kind, query }: IndexQuestion,
): Promise<Omit<IndexAnswer, 'covered'>> {
  switch (kind) {
    case 'thread_search':
    case 'thread_find':
    case 'thread_seen':
      return await threads.search(query)
    case 'thread_count':
    case 'thread_find_count':
    case 'thread_seen_count':
      return { rows: [], total: await threads.count(query) }
    case 'assistant_search':
    case 'assistant_seen':
      return await assistants.search(query)
    case 'assistant_count':
    case 'assistant_seen_count':
      return { rows: [], total: await assistants.count(query) }
    case 'cron_search':
    case 'cron_seen':
      return await crons.search(query)
    case 'cron_count':
    case 'cron_seen_count':
      return { rows: [], total: await crons.count(query) }
    case 'item_search':
    case 'item_words':
      return await items.search(query)
    case 'item_namespaces':
      return { rows: [], total: 0, namespaces: await items.namespaces(query) }
    case 'tenant_use':
      return { rows: [], total: 0, use: await use(query.tenant) }
  }
}
