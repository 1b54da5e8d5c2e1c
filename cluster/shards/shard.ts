/** A shard: the share of all keys that has one owner. Its number is fixed for a cluster's life. */

import { hashText } from './hash.ts'

/** Enough to spread evenly over a hundred members, few enough to claim one by one. */
export const defaultShards = 256

/** The shard of a key, given as its text: from 0 to below `shards`. */
export function shardOf(keyText: string, shards: number): number {
  return hashText(keyText) % shards
}
