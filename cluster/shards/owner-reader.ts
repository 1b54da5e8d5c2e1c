/** Reads who owns shards: a few at a time, and each shard once however many ask. */

import { limitConcurrency } from '../flow/limit-concurrency.ts'
import type { Log } from '../runtime/env.ts'
import type { ShardClaim, ShardPort } from './shard-port.ts'

/** Store of the owners, and the listener that learns of them. */
export interface OwnerReaderOptions {
  readonly log: Log
  readonly shardOwners: Pick<ShardPort, 'owner' | 'owners'>
  /** Called with each owner that was read; undefined if the shard was never owned. */
  found(shard: number, owner: ShardClaim | undefined): void
}

/** Reads under way at once; apart from the changes, which need not wait for them. */
const readsAtOnce = 32

/** Callers that wait ask more often than a slow store answers: they share a read. */
export class OwnerReader {
  readonly #options: OwnerReaderOptions
  readonly #limited = limitConcurrency(readsAtOnce)
  readonly #underWay = new Map<number, Promise<void>>()

  constructor(options: OwnerReaderOptions) {
    this.#options = options
  }

  /** The owners of all shards that were ever owned. Throws if they cannot be read. */
  async readAll(): Promise<readonly ShardClaim[]> {
    return await this.#options.shardOwners.owners()
  }

  /** Resolves when all were read, or one could not be read. Never throws. */
  async read(shards: readonly number[]): Promise<void> {
    await Promise.all(shards.map((shard) => this.#read(shard)))
      .catch((error: unknown) => this.unread(error))
  }

  /** Reports owners that could not be read: they are read when they are needed. */
  unread(error: unknown): void {
    this.#options.log.debug('The owners of shards cannot be read.', { error })
  }

  #read(shard: number): Promise<void> {
    const underWay = this.#underWay.get(shard)
    if (underWay !== undefined) return underWay
    const read = this.#limited(async () => {
      this.#options.found(shard, await this.#options.shardOwners.owner(shard))
    }).finally(() => this.#underWay.delete(shard))
    this.#underWay.set(shard, read)
    return read
  }
}
