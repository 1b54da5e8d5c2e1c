/** Shards that went: their rows are in the file still, and nothing finds them. */

import type { Database, Statement } from './database.ts'
import { shardOfNumber } from './row-number.ts'

export class GoneShards {
  readonly #all: Statement<readonly [shard: number]>
  readonly #add: Statement<never>
  readonly #drop: Statement<never>
  #known: Set<number> | undefined

  constructor(database: Database) {
    database.prepare('CREATE TABLE gone (shard INTEGER PRIMARY KEY)').run()
    this.#all = database.prepare('SELECT shard FROM gone')
    this.#add = database.prepare('INSERT INTO gone VALUES (?)')
    this.#drop = database.prepare('DELETE FROM gone WHERE shard = ?')
  }

  has(shard: number): boolean { return this.#shards.has(shard) }

  add(shard: number): void {
    this.#add.run(shard)
    this.#shards.add(shard)
  }

  /** Its rows are out of the file. */
  drop(shard: number): void {
    this.#drop.run(shard)
    this.#shards.delete(shard)
  }

  /** A condition that leaves out rows with such a number; empty where no shard is gone. */
  condition(number: string): string {
    if (this.#shards.size === 0) return ''
    return `AND ${shardOfNumber(number)} NOT IN (SELECT shard FROM gone)`
  }

  /** A transaction was undone: what is remembered of it is not so. */
  forget(): void {
    this.#known = undefined
  }

  get #shards(): Set<number> {
    return this.#known ??= new Set(this.#all.all().map(([shard]) => shard))
  }
}
