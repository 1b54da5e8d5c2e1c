/** The host names by which tenants reached the server itself: a deployment would hide it there. */

import { LRUCache } from '../../../cluster/index.ts'

/** Names that are remembered. Callers may make up any, but only with credentials. */
const hostsKept = 10_000

/** Names by which callers were served, and whom. Of this process, since it started. */
export class ServedHosts {
  /** The only tenant that was served by a name; empty if there were several. */
  readonly #tenants = new LRUCache<string, string>({ max: hostsKept })

  /** Notes a caller that was served. */
  note(host: string, tenant: string): void {
    const before = this.#tenants.get(host)
    if (before === tenant || before === '') return
    this.#tenants.set(host, before === undefined ? tenant : '')
  }

  /** True if another tenant was served by the name. */
  servedOthers(host: string, tenant: string): boolean {
    const served = this.#tenants.get(host)
    return served !== undefined && served !== tenant
  }
}
