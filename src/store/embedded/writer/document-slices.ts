/** The searches through documents, over one connection to the file. */

import { pageOfNamespaces } from '../../../search/index.ts'
import type { Namespace, NamespaceQuery } from '../../../search/index.ts'
import type { Database } from '../file/database.ts'
import type { SearchFound, SearchQuestion } from '../requests/request.ts'
import { ExpiringThreads } from '../search/expiring-threads.ts'
import { ItemSearch } from '../search/item-search.ts'
import { RunSearch } from '../search/run-search.ts'
import { ThreadCounts } from '../search/thread-counts.ts'
import { ThreadSearch } from '../search/thread-search.ts'
import { TokenCounts } from '../search/token-counts.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import type { VectorCache } from '../search/vector-cache.ts'
import { AssistantTable } from '../tables/assistant-table.ts'
import { CronTable } from '../tables/cron-table.ts'
import { ItemTable } from '../tables/item-table.ts'
import { TenantUses } from '../tables/tenant-uses.ts'

/** A search in slices, after each of which other searches have their turn. */
export type Slices = Generator<void, Omit<SearchFound, 'covered'>, void>

/** Searches a database. Vectors that earlier searches have read are in `vectors`. */
export function slicesOf(database: Database, question: SearchQuestion,
  { unlisted, vectors }: { readonly unlisted: UnlistedShards | undefined;
    readonly vectors: VectorCache }): Slices {
  switch (question.kind) {
    case 'assistants':
      return new AssistantTable(database, new TenantUses(database, unlisted), () => null, unlisted)
        .documents(question.query)
    case 'crons':
      return new CronTable(database, new TenantUses(database, unlisted), () => null, unlisted)
        .documents(question.query)
    case 'threads': {
      const counts = new ThreadCounts(database, unlisted)
      const tokenCounts = new TokenCounts(database, unlisted)
      const expiring = new ExpiringThreads(database, unlisted)
      return new ThreadSearch(database, { counts, tokenCounts, expiring }, unlisted)
        .documents(question.query)
    }
    case 'runs':
      return runsOf(new RunSearch(database).search(question.query))
    case 'items':
      return itemsOf(new ItemSearch(database, vectors, unlisted).search(question.query))
    case 'namespaces': {
      const uses = new TenantUses(database, unlisted)
      const items = new ItemTable(database, uses, () => null, unlisted)
      return namespacesOf(items, question.query)
    }
  }
}

const noRows = { sizes: [], total: 0 }

function* runsOf(search: ReturnType<RunSearch['search']>): Slices {
  return { total: 0, ...yield* search }
}

function* itemsOf(search: ReturnType<ItemSearch['search']>): Slices {
  return { ...noRows, items: yield* search }
}

/** Namespaces that are read before other searches have their turn. */
const namespacesAtOnce = 4_096

function* namespacesOf(items: ItemTable, query: NamespaceQuery): Slices {
  const all: Namespace[] = []
  for (const namespace of items.namespaces(query)) {
    if (all.push(namespace) % namespacesAtOnce === 0) yield
  }
  return { ...noRows, namespaces: pageOfNamespaces(all, query) }
}
