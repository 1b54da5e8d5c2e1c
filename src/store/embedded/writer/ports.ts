/** The ports that the store offers, over the link to the writer thread. */

import type { Env } from '../../../../cluster/index.ts'
import { AssistantRow, CronRow, ItemRow, RunRow,
  ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { KeyTable } from '../../../access/index.ts'
import type { BillingTable } from '../../../billing/index.ts'
import type { LogPort } from '../../../checkpoint/index.ts'
import type { LimitTable } from '../../../limits/index.ts'
import type { AssistantIndex, AssistantQuery, CronIndex, CronQuery, FoundItem, FoundRuns, ItemIndex,
  ItemQuery, Namespace, NamespaceQuery, RunSearchQuery, RunTable, RunText, ThreadFilter,
  ThreadIndex, ThreadQuery } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import { entryOf } from '../requests/entry.ts'
import { unpackEntries } from '../requests/wire-batch.ts'
import { foundItem } from '../search/item-search.ts'
import { clausesOf } from '../search/metadata-tokens.ts'
import { portionsOf } from '../search/stored-row.ts'
import type { RowPage, StoredRow } from '../search/stored-row.ts'
import type { Lookup } from './lookup.ts'
import type { SearchLink } from './search-link.ts'
import type { WriterLink } from './writer-link.ts'

/** The way to the writer thread, as the ports use it. */
export type RequestLink = Pick<WriterLink,
  'ask' | 'write' | 'settled' | 'isAheadOn' | 'expectBranch'>

/** Reads of single rows on the main thread. */
export type RowLookup = Pick<Lookup, 'thread' | 'run' | 'item'>

/** The log. It is not shared: only this process can append. */
export function logPort(link: RequestLink, env: Pick<Env, 'uuid'>): LogPort {
  return {
    shared: false,
    newBranchId: () => {
      const id = env.uuid()
      link.expectBranch(id)
      return id
    },
    open: async () => {},
    append: (rows, updates) => link.write({ kind: 'append', rows, updates: updates.map(entryOf) }),
    tail: (branch) => link.ask('tail', branch),
    read: async (branch, range) => unpackEntries(await link.ask('read', branch, range)),
    findCheckpoint: (branch, checkpointId) => link.ask('findCheckpoint', branch, checkpointId),
    purge: (subject) => link.write({ kind: 'purge', subject }),
  }
}

/** The threads of the store, beside the main one. */
export interface StoreThreads {
  readonly link: RequestLink
  readonly searches: Pick<SearchLink, 'search'>
}

/** Searches for what only documents can answer. Results name the shards that were searched. */
export interface DocumentSearch {
  threads(query: ThreadQuery, cancelled?: AbortSignal): Promise<FoundRows<ThreadRow>>
  assistants(query: AssistantQuery, cancelled?: AbortSignal): Promise<FoundRows<AssistantRow>>
  crons(query: CronQuery, cancelled?: AbortSignal): Promise<FoundRows<CronRow>>
  runs(query: RunSearchQuery, cancelled?: AbortSignal): Promise<FoundRuns>
  items(query: ItemQuery, cancelled?: AbortSignal): Promise<FoundRows<FoundItem>>
  namespaces(query: NamespaceQuery, cancelled?: AbortSignal): Promise<FoundNamespaces>
}

interface FoundNamespaces {
  readonly namespaces: readonly Namespace[]
  readonly covered: readonly number[]
}

interface FoundRows<Row> {
  readonly rows: Row[]
  readonly total: number
  readonly covered: readonly number[]
}

/** Document searches on the search thread, after everything acknowledged is in the database. */
export function documentSearch({ link, searches }: StoreThreads): DocumentSearch {
  const ready = () => link.settled()
  const indexed = async () => {
    await ready()
    await link.ask('wordsNoted')
  }
  return {
    threads: async (query, cancelled) => {
      const { sizes, ...found } = await searches.search({ kind: 'threads', query },
        query.words ? indexed : ready, cancelled)
      const rows = await rowsOf({ sizes }, query, (numbers) => link.ask('threadRows', numbers))
      return { ...found, rows: rows.map(threadOf) }
    },
    assistants: async (query, cancelled) => {
      const { sizes, ...found } = await searches.search({ kind: 'assistants', query }, ready,
        cancelled)
      const rows = await rowsOf({ sizes }, query, (numbers) => link.ask('assistantRows', numbers))
      return { ...found, rows: rows.map(assistantOf) }
    },
    crons: async (query, cancelled) => {
      const { sizes, ...found } = await searches.search({ kind: 'crons', query }, ready, cancelled)
      const rows = await rowsOf({ sizes }, query, (numbers) => link.ask('cronRows', numbers))
      return { ...found, rows: rows.map(cronOf) }
    },
    runs: async (query, cancelled) => {
      const { sizes, next } = await searches.search({ kind: 'runs', query }, ready, cancelled)
      const rows = await rowsOf({ sizes }, query,
        (numbers) => link.ask('runRows', numbers, query.texts))
      return { rows: rows.map(runOf), next }
    },
    items: async (query, cancelled) => {
      const { items = [], total, covered } = await searches.search({ kind: 'items', query }, ready,
        cancelled)
      return { rows: items.map(foundItem), total, covered }
    },
    namespaces: async (query, cancelled) => {
      const { namespaces = [], covered } = await searches.search({ kind: 'namespaces', query },
        ready, cancelled)
      return { namespaces, covered }
    },
  }
}

function pageOf<Row>({ rows, total }: FoundRows<Row>): Pick<FoundRows<Row>, 'rows' | 'total'> {
  return { rows, total }
}

/** The page of a count, which returns no rows. */
const noPage = { sortBy: 'created_at', sortOrder: 'asc', limit: 0, offset: 0 } as const

/** Threads. `get` reads on the main thread, if the database has the newest row. */
export function threadIndex(link: RequestLink, lookup: RowLookup,
  documents: DocumentSearch): ThreadIndex {
  return {
    get: async (tenant, threadId) => {
      const row = link.isAheadOn(tenant, threadId)
        ? await link.ask('thread', tenant, threadId)
        : lookup.thread(tenant, threadId)
      return row && threadOf(row)
    },
    search: async (query, cancelled) => {
      if (needsDocuments(query)) return pageOf(await documents.threads(query, cancelled))
      const found = await link.ask('searchThreads', query)
      if (found === undefined) return pageOf(await documents.threads(query, cancelled))
      const { page, total } = found
      const rows = await rowsOf(page, query, (numbers) => link.ask('threadRows', numbers))
      return { rows: rows.map(threadOf), total }
    },
    count: async (filter, cancelled) => {
      const count = needsDocuments(filter) ? undefined : await link.ask('countThreads', filter)
      return count ?? (await documents.threads({ ...filter, ...noPage }, cancelled)).total
    },
  }
}

/** True if the search thread must look: the writer thread may not take so long. */
function needsDocuments(filter: ThreadFilter): boolean {
  return filter.words !== undefined || !clausesOf(filter).exact
}

/** Runs. `get` reads on the main thread, if the database has the newest row and it is short. */
export function runTable(link: RequestLink, lookup: RowLookup,
  documents: Pick<DocumentSearch, 'runs'>): RunTable {
  return {
    search: (query, cancelled) => documents.runs(query, cancelled),
    get: async (tenant, threadId, runId) => {
      const found = link.isAheadOn(tenant, threadId) ? null : lookup.run(tenant, threadId, runId)
      const body = found === null ? await link.ask('run', tenant, threadId, runId) : found
      return body && runOf(body)
    },
    list: async (query) => {
      const page = await link.ask('runs', query)
      const rows = await rowsOf(page, query, (numbers) => link.ask('runRows', numbers, query.texts))
      return rows.map(runOf)
    },
  }
}

/** Port to assistants, over the writer thread. */
export function assistantIndex(link: RequestLink, documents: DocumentSearch): AssistantIndex {
  return {
    get: async (tenant, assistantId) => {
      const row = await link.ask('assistant', tenant, assistantId)
      return row && assistantOf(row)
    },
    search: async (query, cancelled) => {
      const found = await link.ask('searchAssistants', query)
      if (found === undefined) return pageOf(await documents.assistants(query, cancelled))
      const { page, total } = found
      const rows = await rowsOf(page, query, (numbers) => link.ask('assistantRows', numbers))
      return { rows: rows.map(assistantOf), total }
    },
    count: async (filter, cancelled) =>
      await link.ask('countAssistants', filter)
        ?? (await documents.assistants({ ...filter, ...noPage }, cancelled)).total,
  }
}

/** Port to crons, over the writer thread. */
export function cronIndex(link: RequestLink, documents: DocumentSearch): CronIndex {
  return {
    get: async (tenant, cronId) => {
      const row = await link.ask('cron', tenant, cronId)
      return row && cronOf(row)
    },
    search: async (query, cancelled) => {
      const found = await link.ask('searchCrons', query)
      if (found === undefined) return pageOf(await documents.crons(query, cancelled))
      const { page, total } = found
      const rows = await rowsOf(page, query, (numbers) => link.ask('cronRows', numbers))
      return { rows: rows.map(cronOf), total }
    },
    count: async (filter, cancelled) =>
      await link.ask('countCrons', filter)
        ?? (await documents.crons({ ...filter, ...noPage }, cancelled)).total,
  }
}

/** Items. `get` reads on the main thread, if the database has the newest row. */
export function itemIndex(link: RequestLink, lookup: RowLookup,
  documents: DocumentSearch): ItemIndex {
  return {
    get: async (tenant, id) => {
      const body = link.isAheadOn(tenant, id)
        ? await link.ask('item', tenant, id)
        : lookup.item(tenant, id)
      return body && ItemRow.decode(body)
    },
    search: async (query, cancelled) => pageOf(await documents.items(query, cancelled)),
    namespaces: async (query,
      cancelled) => [...(await documents.namespaces(query, cancelled)).namespaces],
    ended: (beforeMs, limit) => link.ask('endedItems', beforeMs, limit),
  }
}

/** Port to the admitted requests of limits, over the writer thread. */
export function limitTable(link: RequestLink): LimitTable {
  return {
    append: (key, admit) => link.write({ kind: 'admit', entry: { ...key, ...admit } }),
    since: (key, sinceMs) => link.ask('admits', key, sinceMs),
  }
}

/** Port to billing rows, over the writer thread. */
export function billingTable(link: RequestLink): BillingTable {
  return { page: (query) => link.ask('billed', query) }
}

/** Port to API keys, over the writer thread. */
export function keyTable(link: RequestLink): KeyTable {
  return {
    insert: (row) => link.write({ kind: 'key', change: { what: 'insert', row } }),
    get: (id) => link.ask('key', id),
    list: (tenant) => link.ask('keys', tenant),
    revoke: async (id, atMs) => {
      await link.write({ kind: 'key', change: { what: 'revoke', id, atMs } })
      return link.ask('key', id)
    },
    touch: (id, atMs) => link.write({ kind: 'key', change: { what: 'touch', id, atMs } }),
  }
}

/**
 * The rows of a page, a few at a time if they have many bytes. Throws `too_large` as the query
 * says. If all of each row is wanted, it throws before any is read.
 */
async function rowsOf<Row extends StoredRow | Uint8Array>(page: RowPage<Row>,
  { bytes, texts }: { readonly bytes?: number; readonly texts?: readonly RunText[] },
  read: (numbers: readonly number[]) => Promise<Row[]>): Promise<readonly Row[]> {
  if ('rows' in page) return page.rows
  const { sizes } = page
  if (texts === undefined) new PageBytes(bytes).add(...sizes.map(([, length]) => ({ length })))
  const wanted = new PageBytes(bytes)
  const rows: Row[] = []
  for (const numbers of portionsOf(sizes)) {
    for (const row of await read(numbers)) {
      wanted.add(...partsOf(row))
      rows.push(row)
    }
  }
  return rows
}

function partsOf(row: StoredRow | Uint8Array): readonly { readonly length: number }[] {
  return row instanceof Uint8Array ? [row] : row
}

function threadOf([metadataJson, body]: StoredRow): ThreadRow {
  return { ...ThreadRow.decode(body), metadataJson }
}

function assistantOf([metadataJson, body]: StoredRow): AssistantRow {
  return { ...AssistantRow.decode(body), metadataJson }
}

function cronOf([metadataJson, body]: StoredRow): CronRow {
  return { ...CronRow.decode(body), metadataJson }
}

function runOf(body: Uint8Array): RunRow {
  return RunRow.decode(body)
}
