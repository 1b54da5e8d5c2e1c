/** Numbers of rows that come and go by shard: each shard has a range of them. */

import { actorKeyText, shardOf } from '../../../cluster/index.ts'

/** The number that a new row gets in its table; null leaves that to SQLite. */
export type NumberOf = (tenant: string, id: string) => number | null

/**
 * New rows that all shards together may have while a store is open: more than come in years. Up to
 * 8 192 shards have numbers that are exact.
 */
const bitsOfNumber = 40
const numbersOfShard = 2 ** bitsOfNumber

/** The first number of a shard, and the first that is above all of its numbers. */
export function numbersOf(shard: number): [first: number, end: number] {
  return [shard * numbersOfShard, (shard + 1) * numbersOfShard]
}

/** The shard that a row with the number is of. */
export function shardOfNumber(number: number): number {
  return Math.floor(number / numbersOfShard)
}

/** As an expression over that of a number. */
export function shardOfNumberSql(number: string): string {
  return `(${number} >> ${bitsOfNumber})`
}

/** Numbers in the range of a row's shard, of so many, that no row had before. */
export function numbersByShard(kind: string, shards: number): NumberOf {
  let rows = 0
  return (tenant, id) => {
    const [first] = numbersOf(shardOf(actorKeyText({ kind, tenant, id }), shards))
    return first + rows++
  }
}
