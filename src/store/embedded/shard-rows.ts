/** Rows that come and go by shard, in a store that is made anew at each start. */

import type { UnfinishedThread } from '../../records/index.ts'
import type { Database, Statement } from './database.ts'
import type { GoneShards } from './gone-shards.ts'
import { numbersOf } from './row-number.ts'
import type { ThreadTable } from './thread-table.ts'

/** Without an index: the numbers of a shard's rows lie side by side. */
const ofShard = 'NOT INDEXED WHERE rowid >= ? AND rowid < ?'

export class ShardRows {
  readonly #threads: ThreadTable
  readonly #gone: GoneShards
  readonly #removeAssistants: Statement<never>
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>
  readonly #allLoaded: Statement<readonly [shard: number]>
  readonly #note: Statement<never>
  readonly #strike: Statement<never>
  #loaded: readonly number[] | undefined

  constructor(database: Database, threads: ThreadTable, gone: GoneShards) {
    database.prepare('CREATE TABLE loaded (shard INTEGER PRIMARY KEY)').run()
    this.#threads = threads
    this.#gone = gone
    this.#removeAssistants = database.prepare(`DELETE FROM assistant ${ofShard}`)
    this.#unfinished = database.prepare(`SELECT tenant, thread_id FROM thread ${ofShard}
      AND (hidden = 1 OR status = 'busy' OR no IN (SELECT no FROM owing))`)
    this.#allLoaded = database.prepare('SELECT shard FROM loaded')
    this.#note = database.prepare('INSERT INTO loaded VALUES (?)')
    this.#strike = database.prepare('DELETE FROM loaded WHERE shard = ?')
  }

  /** Those whose rows are here, all of them. */
  get loaded(): readonly number[] {
    return this.#loaded ??= this.#allLoaded.all().map(([shard]) => shard)
  }

  /** `putRows` puts all rows that the shard has. Those of an earlier time are gone before. */
  load(shard: number, putRows: () => void): void {
    this.unload(shard)
    putRows()
    this.#note.run(shard)
    this.#loaded = undefined
  }

  /** Nothing finds its rows any more; those of threads, which are many, stay in the file. */
  uncover(shard: number): void {
    if (this.#gone.has(shard)) return
    this.#threads.discount(`thread ${ofShard}`, ...numbersOf(shard))
    this.#removeAssistants.run(...numbersOf(shard))
    this.#strike.run(shard)
    this.#gone.add(shard)
    this.#loaded = undefined
  }

  unload(shard: number): void {
    this.uncover(shard)
    this.#threads.removeAll(`thread ${ofShard}`, ...numbersOf(shard))
    this.#gone.drop(shard)
  }

  unfinishedThreads(shard: number): UnfinishedThread[] {
    return this.#unfinished.all(...numbersOf(shard))
      .map(([tenant, threadId]) => ({ tenant, threadId }))
  }

  /** A transaction was undone: what is remembered of it is not so. */
  forget(): void {
    this.#loaded = undefined
    this.#gone.forget()
  }
}
