/** Rows that come and go by shard, in a store that is rebuilt at each start. */

import type { UnfinishedThread } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { numbersOf } from '../search/row-number.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import { isAwake } from './thread-table.ts'
import type { ThreadTable } from './thread-table.ts'

/** Needs no index: the row numbers of a shard are one range. */
const ofShard = 'NOT INDEXED WHERE rowid >= ? AND rowid < ?'

/** Shards with rows in the file. Each load has another number. */
const shardLoadSchema = `CREATE TABLE shard_load
  (load INTEGER PRIMARY KEY AUTOINCREMENT, shard INTEGER NOT NULL UNIQUE)`

/** Loads, shows, hides and removes rows by shard. Belongs to `Tables`. */
export class ShardRows {
  readonly #threads: ThreadTable
  readonly #unlisted: UnlistedShards
  readonly #removeAssistants: Statement<never>
  readonly #removeCrons: Statement<never>
  readonly #removeItems: readonly Statement<never>[]
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>
  readonly #allLoaded: Statement<readonly [shard: number]>
  readonly #note: Statement<never>
  readonly #strike: Statement<never>
  readonly #noteLoad: Statement<never>
  readonly #strikeLoad: Statement<never>
  #loaded: readonly number[] | undefined

  constructor(database: Database, threads: ThreadTable, unlisted: UnlistedShards) {
    database.prepare('CREATE TABLE loaded (shard INTEGER PRIMARY KEY)').run()
    database.prepare(shardLoadSchema).run()
    this.#threads = threads
    this.#unlisted = unlisted
    this.#removeAssistants = database.prepare(`DELETE FROM assistant ${ofShard}`)
    this.#removeCrons = database.prepare(`DELETE FROM cron ${ofShard}`)
    this.#removeItems = [database.prepare(`DELETE FROM item ${ofShard}`),
      database.prepare('DELETE FROM item_vectors WHERE no >= ? AND no < ?')]
    this.#unfinished = database.prepare(`SELECT tenant, thread_id FROM thread ${ofShard}
      AND ((hidden = 1 OR status = 'busy') AND ${isAwake} OR no IN (SELECT no FROM owing))`)
    this.#allLoaded = database.prepare('SELECT shard FROM loaded')
    this.#note = database.prepare('INSERT INTO loaded VALUES (?)')
    this.#strike = database.prepare('DELETE FROM loaded WHERE shard = ?')
    this.#noteLoad = database.prepare('INSERT INTO shard_load (shard) VALUES (?)')
    this.#strikeLoad = database.prepare('DELETE FROM shard_load WHERE shard = ?')
  }

  /** The covered shards. All of their rows are here and can be found. */
  get loaded(): readonly number[] {
    return this.#loaded ??= this.#allLoaded.all().map(([shard]) => shard)
  }

  /**
   * Loads a shard. `putRows` puts all its rows. They are not found before the shard is covered.
   * Rows left from an earlier load are removed first.
   */
  load(shard: number, putRows: () => void): void {
    this.unload(shard)
    this.#unlisted.add(shard)
    this.#noteLoad.run(shard)
    putRows()
  }

  /** Makes the rows of a shard found. All of them must be here. */
  cover(shard: number): void {
    this.#recount(1, shard)
    this.#note.run(shard)
    this.#unlisted.drop(shard)
    this.#loaded = undefined
  }

  /** Makes the rows of a shard unfound. They stay in the file. */
  uncover(shard: number): void {
    if (!this.loaded.includes(shard)) return
    this.#recount(-1, shard)
    this.#strike.run(shard)
    this.#unlisted.add(shard)
    this.#loaded = undefined
  }

  unload(shard: number): void {
    this.uncover(shard)
    this.#threads.uses.dropAssistants(numbersOf(shard))
    this.#removeAssistants.run(...numbersOf(shard))
    this.#removeCrons.run(...numbersOf(shard))
    for (const each of this.#removeItems) each.run(...numbersOf(shard))
    this.#threads.removeAll(`thread ${ofShard}`, ...numbersOf(shard))
    this.#strikeLoad.run(shard)
    this.#unlisted.drop(shard)
  }

  unfinishedThreads(shard: number): UnfinishedThread[] {
    if (this.#unlisted.has(shard)) return []
    return this.#unfinished.all(...numbersOf(shard))
      .map(([tenant, threadId]) => ({ tenant, threadId }))
  }

  #recount(change: 1 | -1, shard: number): void {
    const numbers = numbersOf(shard)
    this.#threads.recount(change, `thread ${ofShard}`, ...numbers)
    this.#threads.uses.recount(change, numbers)
  }

  /** Call after a rollback: what is cached of that transaction is wrong. */
  forget(): void {
    this.#loaded = undefined
    this.#unlisted.forget()
  }
}
