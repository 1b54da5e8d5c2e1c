/** Notices at one front door that something of a tenant has changed there. */

/** Listeners by their tenants. Nothing is kept for a tenant without one. */
export class TenantChanges {
  readonly #listeners = new Map<string, Set<() => void>>()

  /** Calls `changed` at each change of the tenant. The result stops it. */
  listen(tenant: string, changed: () => void): () => void {
    const listeners = this.#listeners.get(tenant) ?? new Set()
    // A listener may come twice: each time is another one.
    const own = () => changed()
    this.#listeners.set(tenant, listeners.add(own))
    return () => {
      listeners.delete(own)
      if (listeners.size === 0 && this.#listeners.get(tenant) === listeners) {
        this.#listeners.delete(tenant)
      }
    }
  }

  notify(tenant: string): void {
    for (const changed of this.#listeners.get(tenant) ?? []) changed()
  }
}
