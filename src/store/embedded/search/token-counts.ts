/** Number of threads with a metadata token: counted when first asked for, then kept up to date. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { Database } from '../file/database.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

/** Counts that are cached. */
const countsKept = 10_000

/** Counts threads by metadata token, so that a search can start with the rarest. */
export class TokenCounts {
  readonly #database: Database
  readonly #unlisted: UnlistedShards | undefined
  readonly #known = new LRUCache<string, number>({ max: countsKept })

  constructor(database: Database, unlisted?: UnlistedShards) {
    this.#database = database
    this.#unlisted = unlisted
  }

  /** The number of threads, at most `most`. */
  of(tenant: string, token: string, most = Number.MAX_SAFE_INTEGER): number {
    const key = keyOf(tenant, token)
    const known = this.#known.get(key)
    if (known !== undefined) return Math.min(known, most)
    const counted = this.#database.prepare<readonly [count: number]>(`SELECT count(*) FROM
      (SELECT 1 FROM thread_meta WHERE tenant = ? AND token = ?
        ${this.#unlisted?.condition('no') ?? ''} LIMIT ?)`)
    const [count] = counted.get(tenant, token, most)!
    if (count < most) this.#known.set(key, count)
    return count
  }

  /** Adds or takes out a thread with the token. */
  add(tenant: string, token: string, change: 1 | -1): void {
    const key = keyOf(tenant, token)
    const known = this.#known.get(key)
    if (known !== undefined) this.#known.set(key, known + change)
  }

  /** Drops the counts. They are made anew when they are needed. */
  forget(): void {
    this.#known.clear()
  }
}

function keyOf(tenant: string, token: string): string {
  return `${tenant}\n${token}`
}
