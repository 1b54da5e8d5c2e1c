/** Raw bodies that wait for the ingest thread. One tenant never has all of the room. */

import { HeddleError } from '../../errors.ts'

const mebibyte = 1024 * 1024

/** Bounds on bytes that wait. */
export interface WaitingLimits {
  readonly inAll: number
  /** For one tenant, unless a single body is longer. */
  readonly ofTenant: number
}

/** Counts the bytes of bodies that wait, in all and for each tenant. */
export class WaitingBodies {
  readonly #limits: WaitingLimits
  readonly #ofTenants = new Map<string, number>()
  #bytes = 0

  constructor(limits: WaitingLimits = { inAll: 128 * mebibyte, ofTenant: 48 * mebibyte }) {
    this.#limits = limits
  }

  /** Counts a body until the function is called. Throws `full`. */
  hold(tenant: string, bytes: number): () => void {
    this.requireRoom(tenant, bytes)
    this.#add(tenant, bytes)
    return () => this.#add(tenant, -bytes)
  }

  /** Throws `full` if there is no room for a body now. */
  requireRoom(tenant: string, bytes: number): void {
    const own = this.#ofTenants.get(tenant) ?? 0
    const { inAll, ofTenant } = this.#limits
    const isTooMuch = own > 0 && own + bytes > ofTenant
    if (isTooMuch || this.#bytes + bytes > inAll) {
      throw new HeddleError('full', 'Too many operations wait to be written: send these again ' +
        'in a second.', { retryAfterSeconds: 1 })
    }
  }

  #add(tenant: string, bytes: number): void {
    const own = (this.#ofTenants.get(tenant) ?? 0) + bytes
    this.#bytes += bytes
    if (own === 0) this.#ofTenants.delete(tenant)
    else this.#ofTenants.set(tenant, own)
  }
}
