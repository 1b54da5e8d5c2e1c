/** Shards whose rows are in the file, or being loaded or removed, but must not be found. */

import type { Database, Statement } from '../file/database.ts'
import { shardOfNumber, shardOfNumberSql } from './row-number.ts'

/** The unlisted shards. Searches leave their rows out. */
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

  /** True if rows of any shard must not be found. */
  get any(): boolean {
    return this.#shards.size > 0
  }

  /** True if the row with this number belongs to an unlisted shard. */
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

  /** SQL condition that leaves their rows out; empty if no shard is unlisted. */
  condition(number: string): string {
    if (this.#shards.size === 0) return ''
    return `AND ${shardOfNumberSql(number)} NOT IN (SELECT shard FROM unlisted)`
  }

  /** Call after a rollback: what is cached of that transaction is wrong. */
  forget(): void {
    this.#known = undefined
  }

  get #shards(): Set<number> {
    return this.#known ??= new Set(this.#all.all().map(([shard]) => shard))
  }
}
