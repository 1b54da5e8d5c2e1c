/** Numbers of rows in a store whose shards come and go. Each shard has a range of them. */

import { actorKeyText, shardOf } from '../../../../cluster/index.ts'

/** Makes the number of a new row in its table. Null leaves it to SQLite. */
export type NumberOf = (tenant: string, id: string) => number | null

/**
 * Bits of a shard's range: more new rows than come in years while a store is open. Numbers of up to
 * 8 192 shards are exact.
 */
const bitsOfNumber = 40
const numbersOfShard = 2 ** bitsOfNumber

/** The range of a shard. `end` is the first number after it. */
export function numbersOf(shard: number): [first: number, end: number] {
  return [shard * numbersOfShard, (shard + 1) * numbersOfShard]
}

/** The shard of the row with this number. */
export function shardOfNumber(number: number): number {
  return Math.floor(number / numbersOfShard)
}

/** `shardOfNumber` as an SQL expression. */
export function shardOfNumberSql(number: string): string {
  return `(${number} >> ${bitsOfNumber})`
}

/** Numbers each new row of a kind within the range of its shard. A number is never used twice. */
export function numbersByShard(kind: string, shards: number): NumberOf {
  let rows = 0
  return (tenant, id) => {
    const [first] = numbersOf(shardOf(actorKeyText({ kind, tenant, id }), shards))
    return first + rows++
  }
}
