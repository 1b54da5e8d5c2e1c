/** Rows that come and go by shard, in a store that is rebuilt at each start. */

import type { UnfinishedThread } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { numbersOf } from '../search/row-number.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import { isAwake } from './thread-table.ts'
import type { ThreadTable } from './thread-table.ts'

/** Needs no index: the numbers of a shard's rows are one range. */
const ofShard = 'NOT INDEXED WHERE rowid >= ? AND rowid < ?'

export class ShardRows {
  readonly #threads: ThreadTable
  readonly #unlisted: UnlistedShards
  readonly #removeAssistants: Statement<never>
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>
  readonly #allLoaded: Statement<readonly [shard: number]>
  readonly #note: Statement<never>
  readonly #strike: Statement<never>
  #loaded: readonly number[] | undefined

  constructor(database: Database, threads: ThreadTable, unlisted: UnlistedShards) {
    database.prepare('CREATE TABLE loaded (shard INTEGER PRIMARY KEY)').run()
    this.#threads = threads
    this.#unlisted = unlisted
    this.#removeAssistants = database.prepare(`DELETE FROM assistant ${ofShard}`)
    this.#unfinished = database.prepare(`SELECT tenant, thread_id FROM thread ${ofShard}
      AND ((hidden = 1 OR status = 'busy') AND ${isAwake} OR no IN (SELECT no FROM owing))`)
    this.#allLoaded = database.prepare('SELECT shard FROM loaded')
    this.#note = database.prepare('INSERT INTO loaded VALUES (?)')
    this.#strike = database.prepare('DELETE FROM loaded WHERE shard = ?')
  }

  /** The covered shards: all of their rows are here. */
  get loaded(): readonly number[] {
    return this.#loaded ??= this.#allLoaded.all().map(([shard]) => shard)
  }

  /**
   * `putRows` puts all rows of the shard. Nothing finds them before the shard is covered. Rows left
   * from an earlier time are removed first.
   */
  load(shard: number, putRows: () => void): void {
    this.unload(shard)
    this.#unlisted.add(shard)
    putRows()
  }

  /** All rows of the shard are here: they are found from now on. */
  cover(shard: number): void {
    this.#recount(1, shard)
    this.#note.run(shard)
    this.#unlisted.drop(shard)
    this.#loaded = undefined
  }

  /** The rows are no longer found; they stay in the file. */
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
    this.#threads.removeAll(`thread ${ofShard}`, ...numbersOf(shard))
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

  /** A transaction was rolled back: what is remembered of it is wrong. */
  forget(): void {
    this.#loaded = undefined
    this.#unlisted.forget()
  }
}
