/** All tables of the embedded store in one file: what changes together, what can be asked. */

import { ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { BranchSubject, PurgeSubject } from '../../../checkpoint/index.ts'
import { assert } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import type { SchemaStep } from '../file/schema-version.ts'
import { branchSchema } from '../log/branch-table.ts'
import { checkpointSchema } from '../log/checkpoint-table.ts'
import { logSchema, LogTable } from '../log/log-table.ts'
import { expiringSchema } from '../search/expiring-threads.ts'
import { holds } from '../search/metadata-tokens.ts'
import { numbersByShard } from '../search/row-number.ts'
import { ThreadSearch } from '../search/thread-search.ts'
import { UnlistedShards } from '../search/unlisted-shards.ts'
import { wordSchema } from '../search/word-index.ts'
import type { WordIndex } from '../search/word-index.ts'
import { assistantSchema, AssistantTable } from '../tables/assistant-table.ts'
import { billingSchema, BillingTable } from '../tables/billing-table.ts'
import { cronAheadSchema, cronSchema, CronTable } from '../tables/cron-table.ts'
import { itemSchema, ItemTable } from '../tables/item-table.ts'
import { keySchema, KeyTable } from '../tables/key-table.ts'
import { limitSchema, LimitTable } from '../tables/limit-table.ts'
import { runSchema, RunTable, runTimeSchema } from '../tables/run-table.ts'
import { ShardRows } from '../tables/shard-rows.ts'
import { useSchema } from '../tables/tenant-uses.ts'
import { owingSchema, threadSchema, ThreadTable } from '../tables/thread-table.ts'
import { countedOf, entryOfBody, expiryOf } from './entry.ts'
import type { StoreGeneration, Reader } from './request.ts'
import { StoreGenerationRow, storeGenerationSchema, writtenSchema } from './store-generation.ts'
import { packEntries } from './wire-batch.ts'
import type { EncodedRow, EntryUpdate, SearchedTable, Write } from './write.ts'

/**
 * The steps of the schema. A step never changes. Programs that know only the first six refuse every
 * file that has seen more. From the seventh on, a step that only adds says `oldest: 6`.
 */
export const schema: readonly SchemaStep[] = [
  {
    sql: [
      branchSchema,
      checkpointSchema,
      logSchema,
      threadSchema,
      runSchema,
      assistantSchema,
      storeGenerationSchema,
    ].join(''),
    oldest: 1,
  },
  { sql: keySchema, oldest: 2 },
  { sql: limitSchema, oldest: 3 },
  { sql: owingSchema, oldest: 4 },
  { sql: billingSchema, oldest: 5 },
  { sql: writtenSchema, oldest: 6 },
  { sql: useSchema, oldest: 6 },
  { sql: cronSchema, oldest: 6 },
  { sql: itemSchema, oldest: 6 },
  { sql: expiringSchema, oldest: 6 },
  { sql: runTimeSchema, oldest: 6 },
  { sql: wordSchema, oldest: 6 },
  { sql: cronAheadSchema, oldest: 6 },
]

/** All tables over one connection. The writer thread has the one that writes. */
export class Tables {
  readonly reader: Reader
  readonly generation: StoreGenerationRow
  readonly #log: LogTable
  readonly #threads: ThreadTable
  readonly #runs: RunTable
  readonly #assistants: AssistantTable
  readonly #crons: CronTable
  readonly #items: ItemTable
  readonly #keys: KeyTable
  readonly #limits: LimitTable
  readonly #billing: BillingTable
  readonly #shards: ShardRows | undefined

  /** `shards` is their number in a store whose rows come and go by shard; otherwise undefined. */
  constructor(database: Database, shards?: number) {
    database.define('holds', holds)
    this.generation = new StoreGenerationRow(database)
    this.#log = new LogTable(database)
    const numbers = (
      kind: SearchedTable,
    ) => (shards === undefined ? undefined : numbersByShard(kind, shards))
    const unlisted = shards === undefined ? undefined : new UnlistedShards(database)
    this.#threads = new ThreadTable(database, numbers('thread'), unlisted)
    this.#runs = new RunTable(database)
    this.#assistants = new AssistantTable(database, this.#threads.uses, numbers('assistant'),
      unlisted)
    this.#crons = new CronTable(database, this.#threads.uses, numbers('cron'), unlisted)
    this.#items = new ItemTable(database, this.#threads.uses, numbers('item'), unlisted)
    this.#keys = new KeyTable(database)
    this.#limits = new LimitTable(database)
    this.#billing = new BillingTable(database)
    this.#shards = unlisted && new ShardRows(database, this.#threads, unlisted)
    this.reader = readerOf({
      log: this.#log,
      threads: this.#threads,
      runs: this.#runs,
      assistants: this.#assistants,
      crons: this.#crons,
      items: this.#items,
      search: new ThreadSearch(database, this.#threads, unlisted),
      keys: this.#keys,
      limits: this.#limits,
      billing: this.#billing,
      shards: () => this.#byShard(),
    })
  }

  get words(): WordIndex {
    return this.#threads.words
  }

  /** Begins a generation. What tenants use is counted anew if an older program wrote the file. */
  begin(): StoreGeneration {
    const generation = this.generation.begin()
    this.#threads.expiring.begin(generation.epoch, (body) => expiryOf(ThreadRow.decode(body)))
    this.#threads.words.begin(generation.epoch)
    this.#items.begin()
    if (this.#threads.uses.begin(generation.epoch)) return generation
    this.#threads.countUses((body) => countedOf(ThreadRow.decode(body)))
    return generation
  }

  /**
   * Applies a write. A HeddleError means that nothing changed. After others, something may have.
   */
  apply(write: Write): void {
    switch (write.kind) {
      case 'append':
        this.#log.append(write.rows)
        for (const update of write.updates) this.#update(update)
        return
      case 'purge':
        return this.#purge(write.subject)
      case 'key':
        return this.#keys.apply(write.change)
      case 'admit':
        return this.#limits.append(write.entry)
      case 'load':
        return this.#byShard().load(write.shard, () => this.#fill(write.rows))
      case 'cover':
      case 'uncover':
      case 'unload':
        return this.#byShard()[write.kind](write.shard)
    }
  }

  /** Call after a rollback: what is cached of that transaction is wrong. */
  forget(): void {
    this.#log.forget()
    this.#threads.counts.forget()
    this.#threads.tokenCounts.forget()
    this.#shards?.forget()
  }

  #byShard(): ShardRows {
    assert(this.#shards, 'rows come and go by shard in a store that was opened so')
    return this.#shards
  }

  #purge(subject: PurgeSubject | BranchSubject): void {
    switch (subject.table) {
      case 'thread':
        this.#threads.remove(subject)
        this.#runs.removeAll(subject.tenant, subject.id)
        break
      case 'assistant':
        this.#assistants.remove(subject)
        break
      case 'cron':
        this.#crons.remove(subject)
    }
    this.#log.purge(subject.branch)
  }

  /** Fills a shard without rows. Only a thread that is given twice is looked up first. */
  #fill(rows: readonly EncodedRow[]): void {
    const given = new Set<string>()
    for (const { table, body } of rows) {
      const update = entryOfBody(table, body)
      if (update.table !== 'thread') {
        this.#update(update)
        continue
      }
      const { tenant, threadId } = update.entry
      const before = given.size
      if (given.add(`${tenant}\n${threadId}`).size > before) this.#threads.add(update.entry)
      else this.#threads.put(update.entry)
    }
  }

  #update(update: EntryUpdate): void {
    switch (update.table) {
      case 'thread':
        return this.#threads.put(update.entry)
      case 'run':
        return this.#runs.put(update.entry)
      case 'assistant':
        return this.#assistants.put(update.entry)
      case 'cron':
        return this.#crons.put(update.entry)
      case 'item':
        return this.#items.put(update.entry)
      case 'item_removed':
        return this.#items.remove(update)
      case 'billing':
        return this.#billing.put(update.row)
      case 'run_removed':
        return this.#runs.remove(update.tenant, update.threadId, update.runId)
    }
  }
}

function readerOf(
  { log, threads, runs, assistants, crons, items, search, keys, limits, billing, shards }: {
    readonly log: LogTable
    readonly threads: ThreadTable
    readonly runs: RunTable
    readonly assistants: AssistantTable
    readonly crons: CronTable
    readonly items: ItemTable
    readonly search: ThreadSearch
    readonly keys: KeyTable
    readonly limits: LimitTable
    readonly billing: BillingTable
    readonly shards: () => ShardRows
  },
): Reader {
  return {
    tail: (branch) => log.tail(branch),
    read: (branch, range) => packEntries(log.read(branch, range)),
    findCheckpoint: (branch, id) => log.findCheckpoint(branch, id),
    searchThreads: (query) => (search.isLong(query) ? undefined : search.search(query)),
    countThreads: (filter) => (search.isLong(filter) ? undefined : search.count(filter)),
    use: (tenant) => threads.uses.of(tenant),
    dueThreads: (after, limit) => threads.due(after, limit),
    wordsNoted: () => threads.words.newest,
    unfinishedThreads: () => threads.unfinished(),
    unfinishedThreadsOf: (shard) => shards().unfinishedThreads(shard),
    loadedShards: () => shards().loaded,
    thread: (tenant, threadId) => threads.get(tenant, threadId),
    run: (tenant, threadId, runId) => runs.get(tenant, threadId, runId),
    runs: (query) => runs.list(query),
    assistant: (tenant, id) => assistants.get(tenant, id),
    item: (tenant, id) => items.get(tenant, id),
    endedItems: (beforeMs, limit) => items.ended(beforeMs, limit),
    threadRows: (numbers) => search.rows(numbers),
    assistantRows: (numbers) => assistants.rows(numbers),
    runRows: (numbers, texts) => runs.rows(numbers, texts),
    searchAssistants: (query) => (assistants.isLong(query) ? undefined : assistants.search(query)),
    countAssistants: (filter) => (assistants.isLong(filter) ? undefined : assistants.count(filter)),
    cron: (tenant, id) => crons.get(tenant, id),
    searchCrons: (query) => (crons.isLong(query) ? undefined : crons.search(query)),
    countCrons: (filter) => (crons.isLong(filter) ? undefined : crons.count(filter)),
    cronRows: (numbers) => crons.rows(numbers),
    dueCrons: (after, limit, nowMs) => crons.due(after, limit, nowMs),
    nothing: () => undefined,
    key: (id) => keys.get(id),
    keys: (tenant) => keys.list(tenant),
    billed: (query) => billing.page(query),
    admits: (key, sinceMs) => limits.since(key, sinceMs),
  }
}
