/** Shards whose rows are in the file, or being loaded or removed, but must not be found. */

import type { Database, Statement } from '../file/database.ts'
import { shardOfNumber, shardOfNumberSql } from './row-number.ts'

export class UnlistedShards {
  readonly #all: Statement<readonly [shard: number]>
  readonly #add: Statement<never>
  readonly #drop: Statement<never>
  #known: Set<number> | undefined

  /** Makes the table, unless the database is only read. */
  constructor(database: Database, isReader = false) {
    if (!isReader) database.prepare('CREATE TABLE unlisted (shard INTEGER PRIMARY KEY)').run()
    this.#all = database.prepare('SELECT shard FROM unlisted')
    this.#add = database.prepare('INSERT INTO unlisted VALUES (?)')
    this.#drop = database.prepare('DELETE FROM unlisted WHERE shard = ?')
  }

  has(shard: number): boolean {
    return this.#shards.has(shard)
  }

  /** Whether the row with this number belongs to such a shard. */
  hides(number: number): boolean {
    return this.#shards.size > 0 && this.#shards.has(shardOfNumber(number))
  }

  add(shard: number): void {
    if (this.#shards.has(shard)) return
    this.#add.run(shard)
    this.#shards.add(shard)
  }

  drop(shard: number): void {
    this.#drop.run(shard)
    this.#shards.delete(shard)
  }

  /** An SQL condition that leaves out such rows; empty if there is no such shard. */
  condition(number: string): string {
    if (this.#shards.size === 0) return ''
    return `AND ${shardOfNumberSql(number)} NOT IN (SELECT shard FROM unlisted)`
  }

  /** A transaction was rolled back: what is remembered of it is wrong. */
  forget(): void {
    this.#known = undefined
  }

  get #shards(): Set<number> {
    return this.#known ??= new Set(this.#all.all().map(([shard]) => shard))
  }
}
