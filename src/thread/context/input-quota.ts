/**
 * Bounds what a process keeps of what clients sent: the inputs of unfinished runs and edits of all
 * threads together, and bodies that are being received.
 */

import { HeddleError } from '../../errors.ts'
import { tenantOfNamespace } from '../../limits/index.ts'

/** A tenant may hold this many times what is left, so that something is left for the others. */
const share = 3
/** Part of the room that is added for work that other tenants wait for. */
const extraPart = 1 / 8

/** The room as one tenant uses it. */
export interface Inputs {
  /** `holder` now keeps this many characters in memory. */
  hold(holder: object, characters: number): void
  /** The same, if there is room. Throws `full`. */
  take(holder: object, characters: number): void
  /** Throws `full` if other holders take up all the room, or all that the tenant may have. */
  requireLeft(holder: object): void
  /**
   * Takes room for work that other tenants wait for: beyond the share of the tenant, and up to an
   * eighth beyond the room. Throws `full`.
   */
  takeForOthers(holder: object, characters: number): void
}

/** Count of the characters of inputs that a process holds, by tenant. */
export class InputQuota {
  readonly #charactersMax: number
  readonly #full: string
  readonly #held = new Map<object, number>()
  /** Characters by tenant; none with 0. */
  readonly #tenants = new Map<string, number>()
  #characters = 0

  /** `full` is the sentence of the error if nothing is left. */
  constructor(charactersMax: number, full = 'Runs and updates of other threads take up all the ' +
    'room for inputs; try again when some are done.') {
    this.#charactersMax = charactersMax
    this.#full = full
  }

  /** Namespaces of a tenant share its part. */
  of(namespace: string): Inputs {
    const tenant = tenantOfNamespace(namespace)
    return {
      hold: (holder, characters) => this.#hold(tenant, holder, characters),
      take: (holder, characters) => {
        this.#requireLeft(tenant, holder)
        this.#hold(tenant, holder, characters)
      },
      requireLeft: (holder) => this.#requireLeft(tenant, holder),
      takeForOthers: (holder, characters) => {
        const others = this.#characters - this.#by(holder)
        if (others >= this.#charactersMax * (1 + extraPart)) throw this.#fullError()
        this.#hold(tenant, holder, characters)
      },
    }
  }

  #hold(tenant: string, holder: object, characters: number): void {
    const more = characters - this.#by(holder)
    this.#characters += more
    keep(this.#held, holder, characters)
    keep(this.#tenants, tenant, (this.#tenants.get(tenant) ?? 0) + more)
  }

  #requireLeft(tenant: string, holder: object): void {
    const own = this.#by(holder)
    const left = this.#charactersMax - (this.#characters - own)
    const ofTenant = (this.#tenants.get(tenant) ?? 0) - own
    if (left > 0 && ofTenant < share * left) return
    throw this.#fullError()
  }

  #fullError(): HeddleError {
    return new HeddleError('full', this.#full)
  }

  #by(holder: object): number {
    return this.#held.get(holder) ?? 0
  }
}

function keep<Key>(amounts: Map<Key, number>, key: Key, characters: number): void {
  if (characters === 0) amounts.delete(key)
  else amounts.set(key, characters)
}
