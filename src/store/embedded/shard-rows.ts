/** Rows that come and go by shard, in a store that is made anew at each start. */

import { actorKeyText, shardOf } from '../../../cluster/index.ts'
import type { UnfinishedThread } from '../../records/index.ts'
import type { Database, Statement } from './database.ts'
import type { ThreadTable } from './thread-table.ts'

const schema = [
  `CREATE INDEX thread_shard ON thread (shard_of('thread', tenant, thread_id))`,
  `CREATE INDEX assistant_shard ON assistant (shard_of('assistant', tenant, assistant_id))`,
  'CREATE TABLE loaded (shard INTEGER PRIMARY KEY)',
]

const threadsOf = `thread INDEXED BY thread_shard
  WHERE shard_of('thread', tenant, thread_id) = ?`

/** The function of the indexes: every connection to a file that has them needs it. */
export function defineShards(database: Database, shards: number): void {
  database.define('shard_of', (kind, tenant, id) =>
    shardOf(actorKeyText({ kind: kind!, tenant: tenant!, id: id! }), shards))
}

export class ShardRows {
  readonly #threads: ThreadTable
  readonly #removeAssistants: Statement<never>
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>
  readonly #allLoaded: Statement<readonly [shard: number]>
  readonly #note: Statement<never>
  readonly #strike: Statement<never>
  #loaded: readonly number[] | undefined

  constructor(database: Database, threads: ThreadTable, shards: number) {
    defineShards(database, shards)
    for (const sql of schema) database.prepare(sql).run()
    this.#threads = threads
    this.#removeAssistants = database.prepare(`DELETE FROM assistant INDEXED BY assistant_shard
      WHERE shard_of('assistant', tenant, assistant_id) = ?`)
    this.#unfinished = database.prepare(`SELECT tenant, thread_id FROM ${threadsOf}
      AND (hidden = 1 OR status = 'busy')`)
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
  }

  unload(shard: number): void {
    this.#threads.removeAll(threadsOf, shard)
    this.#removeAssistants.run(shard)
    this.#strike.run(shard)
    this.forget()
  }

  unfinishedThreads(shard: number): UnfinishedThread[] {
    return this.#unfinished.all(shard).map(([tenant, threadId]) => ({ tenant, threadId }))
  }

  /** A transaction was undone: what is remembered of it is not so. */
  forget(): void {
    this.#loaded = undefined
  }
}
