/** How many threads a tenant has in each status: kept in memory, since every page shows a total. */

import type { Database, Statement } from './database.ts'

type Counts = Map<string, Map<string, number>>

export class ThreadCounts {
  readonly #all: Statement<readonly [tenant: string, count: number]>
  readonly #busy: Statement<readonly [tenant: string, status: string, count: number]>
  #counts: Counts | undefined

  constructor(database: Database) {
    this.#all = database.prepare(`SELECT tenant, count(*) FROM thread INDEXED BY thread_created_at
      WHERE hidden = 0 GROUP BY tenant`)
    this.#busy = database.prepare(`SELECT tenant, status, count(*)
      FROM thread INDEXED BY thread_status
      WHERE hidden = 0 AND status <> 'idle' GROUP BY status, tenant`)
  }

  /** Of one status, or of all. */
  of(tenant: string, status?: string): number {
    const counts = this.#loaded().get(tenant)
    if (!counts) return 0
    if (status !== undefined) return counts.get(status) ?? 0
    return [...counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** A row is about to come or go: the rows as they are may be counted now. */
  add(tenant: string, status: string, change: 1 | -1): void {
    const counts = this.#loaded()
    let ofTenant = counts.get(tenant)
    if (!ofTenant) counts.set(tenant, ofTenant = new Map())
    ofTenant.set(status, (ofTenant.get(status) ?? 0) + change)
  }

  /** They are counted anew when they are needed again. */
  forget(): void {
    this.#counts = undefined
  }

  #loaded(): Counts {
    if (this.#counts) return this.#counts
    const counts: Counts = new Map()
    for (const [tenant, count] of this.#all.all()) counts.set(tenant, new Map([['idle', count]]))
    for (const [tenant, status, count] of this.#busy.all()) {
      const ofTenant = counts.get(tenant)!
      ofTenant.set('idle', ofTenant.get('idle')! - count)
      ofTenant.set(status, count)
    }
    return this.#counts = counts
  }
}
