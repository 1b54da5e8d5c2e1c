/** Numbers of rows in a store whose shards come and go: each shard has a range of them. */

import { actorKeyText, shardOf } from '../../../../cluster/index.ts'

/** The number of a new row in its table; null leaves it to SQLite. */
export type NumberOf = (tenant: string, id: string) => number | null

/**
 * New rows that all shards together may have while a store is open: more than come in years. Up to
 * 8 192 shards have numbers that are exact.
 */
const bitsOfNumber = 40
const numbersOfShard = 2 ** bitsOfNumber

/** The first number of a shard, and the first number after its range. */
export function numbersOf(shard: number): [first: number, end: number] {
  return [shard * numbersOfShard, (shard + 1) * numbersOfShard]
}

/** The shard of the row with this number. */
export function shardOfNumber(number: number): number {
  return Math.floor(number / numbersOfShard)
}

/** The same as an SQL expression. */
export function shardOfNumberSql(number: string): string {
  return `(${number} >> ${bitsOfNumber})`
}

/** Gives each new row a number, never used before, in the range of its shard. */
export function numbersByShard(kind: string, shards: number): NumberOf {
  let rows = 0
  return (tenant, id) => {
    const [first] = numbersOf(shardOf(actorKeyText({ kind, tenant, id }), shards))
    return first + rows++
  }
}
