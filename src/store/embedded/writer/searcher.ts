/**
 * The thread that searches through documents, so that the writer thread does not have to. Started
 * by search-link.ts. Searches continue in slices, each in its turn.
 */

import { parentPort, workerData } from 'node:worker_threads'

import { assert } from '../../../errors.ts'
import { pageOfNamespaces } from '../../../search/index.ts'
import type { Namespace, NamespaceQuery } from '../../../search/index.ts'
import { Database } from '../file/database.ts'
import { diskError } from '../file/disk-error.ts'
import type { SearchFound, SearchOrder, SearchQuestion, SearchReply,
  StoreFile } from '../requests/request.ts'
import { ExpiringThreads } from '../search/expiring-threads.ts'
import { ItemSearch } from '../search/item-search.ts'
import { RunSearch } from '../search/run-search.ts'
import { ThreadCounts } from '../search/thread-counts.ts'
import { ThreadSearch } from '../search/thread-search.ts'
import { TokenCounts } from '../search/token-counts.ts'
import { UnlistedShards } from '../search/unlisted-shards.ts'
import { VectorCache } from '../search/vector-cache.ts'
import { AssistantTable } from '../tables/assistant-table.ts'
import { CronTable } from '../tables/cron-table.ts'
import { ItemTable } from '../tables/item-table.ts'
import { TenantUses } from '../tables/tenant-uses.ts'

assert(parentPort, 'the searcher runs in a worker thread')
const port = parentPort
const { path: file, shards } = workerData as StoreFile

/** Connections without a search. */
const idle: Database[] = []

/** A search in progress. Its connection is its own, so it sees what was there when it began. */
class Search implements Disposable {
  readonly id: number
  readonly #database = idle.pop() ?? new Database(file)
  readonly #snapshot = this.#database.snapshot()
  readonly #covered: readonly number[]
  readonly #slices: Slices

  constructor({ id, question }: SearchOrder) {
    this.id = id
    const unlisted = shards === undefined ? undefined : new UnlistedShards(this.#database, true)
    this.#covered = unlisted ? this.#loaded() : []
    if (unlisted) cache.keepShards(this.#loads())
    this.#slices = slicesOf(this.#database, question, unlisted)
  }

  /** Continues the search. Undefined as long as it is not done. */
  resume(): SearchReply | undefined {
    const { done, value } = this.#slices.next()
    return done ? { id: this.id, found: { ...value, covered: this.#covered } } : undefined
  }

  [Symbol.dispose](): void {
    this.#slices.return({ sizes: [], total: 0 })
    this.#snapshot[Symbol.dispose]()
    idle.push(this.#database)
  }

  #loads(): ReadonlyMap<number, number> {
    const all = this.#database.prepare<readonly [shard: number, load: number]>(
      'SELECT shard, load FROM shard_load',
    )
    return new Map(all.all())
  }

  #loaded(): number[] {
    const all = this.#database.prepare<readonly [shard: number]>('SELECT shard FROM loaded')
    return all.all().map(([shard]) => shard)
  }
}

type Slices = Generator<void, Omit<SearchFound, 'covered'>, void>

function slicesOf(database: Database, question: SearchQuestion,
  unlisted: UnlistedShards | undefined): Slices {
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
      return itemsOf(new ItemSearch(database, cache, unlisted).search(question.query))
    case 'namespaces': {
      const uses = new TenantUses(database, unlisted)
      const items = new ItemTable(database, uses, () => null, unlisted)
      return namespacesOf(items, question.query)
    }
  }
}

/** Vectors that earlier searches have read. */
const cache = new VectorCache()

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

/** Searches in the order of their turns. */
const searches = new Map<number, Search>()

function failed(id: number, caught: unknown): SearchReply {
  const { code, message, details, cause } = diskError(caught, file)
  return { id, error: { code, message: message, details, cause } }
}

function end(id: number): void {
  searches.get(id)?.[Symbol.dispose]()
  searches.delete(id)
}

/** Runs one slice of the search whose turn it is. New searches are received in between. */
function turn(): void {
  const [search] = searches.values()
  if (search === undefined) return
  const { id } = search
  searches.delete(id)
  searches.set(id, search)
  try {
    const reply = search.resume()
    if (reply) {
      port.postMessage(reply)
      end(id)
    }
  } catch (error) {
    port.postMessage(failed(id, error))
    end(id)
  }
  setImmediate(turn)
}

port.on('message', (order: SearchOrder | { readonly giveUp: number } | 'close') => {
  if (order === 'close') {
    for (const id of searches.keys()) end(id)
    for (const database of idle) database.close()
    return port.close()
  }
  if ('giveUp' in order) return end(order.giveUp)
  try {
    searches.set(order.id, new Search(order))
    if (searches.size === 1) setImmediate(turn)
  } catch (error) {
    port.postMessage(failed(order.id, error))
  }
})
