/** Number of threads of a tenant by status. Kept in memory, since every page shows a total. */

import type { Database } from '../file/database.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

type Counts = Map<string, Map<string, number>>

/**
 * Counts threads by tenant and status. The first use reads all rows; then it is kept up to date.
 */
export class ThreadCounts {
  readonly #database: Database
  readonly #unlisted: UnlistedShards | undefined
  #counts: Counts | undefined

  constructor(database: Database, unlisted?: UnlistedShards) {
    this.#database = database
    this.#unlisted = unlisted
  }

  /** Number of threads of one status, or of all. */
  of(tenant: string, status?: string): number {
    const counts = this.#loaded().get(tenant)
    if (!counts) return 0
    if (status !== undefined) return counts.get(status) ?? 0
    return [...counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Changes a count. Call before rows come or go, as the existing ones may be counted now. */
  add(tenant: string, status: string, change: number): void {
    const counts = this.#loaded()
    let ofTenant = counts.get(tenant)
    if (!ofTenant) counts.set(tenant, ofTenant = new Map())
    ofTenant.set(status, (ofTenant.get(status) ?? 0) + change)
  }

  /** Drops the counts. They are made anew when they are needed. */
  forget(): void {
    this.#counts = undefined
  }

  #loaded(): Counts {
    if (this.#counts) return this.#counts
    const counts: Counts = new Map()
    const shown = `hidden = 0 ${this.#unlisted?.condition('no') ?? ''}`
    const all = this.#database.prepare<readonly [tenant: string, count: number]>(
      `SELECT tenant, count(*) FROM thread INDEXED BY thread_created_at
        WHERE ${shown} GROUP BY tenant`,
    )
    const busy = this.#database.prepare<readonly [tenant: string, status: string, count: number]>(
      `SELECT tenant, status, count(*) FROM thread INDEXED BY thread_status
        WHERE ${shown} AND status <> 'idle' GROUP BY status, tenant`,
    )
    for (const [tenant, count] of all.all()) counts.set(tenant, new Map([['idle', count]]))
    for (const [tenant, status, count] of busy.all()) {
      const ofTenant = counts.get(tenant)!
      ofTenant.set('idle', ofTenant.get('idle')! - count)
      ofTenant.set(status, count)
    }
    return this.#counts = counts
  }
}
