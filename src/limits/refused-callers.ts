/** Callers that this front door refused because of a limit, for the admins of their tenant. */

import { LRUCache } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { LimitKey } from './limit-table.ts'
import { limitKeyText } from './live-counters.ts'

/** Name of a refused caller, as its tenant knows it. */
export type RefusedName =
  | { readonly keyId: string }
  | { readonly user: string }
  | { readonly address: string }

/** A caller that was refused, by which limit, and how often since the start of the front door. */
export interface RefusedCaller {
  readonly name: RefusedName
  readonly row: string
  readonly refused: number
  readonly lastMs: number
}

/** Callers of one tenant that are remembered, and tenants. The ones refused last stay. */
const [callersMax, tenantsMax] = [200, 1_000]

/** Remembers refused callers at one front door. */
export class RefusedCallers {
  readonly #env: Pick<Env, 'nowMs'>
  readonly #tenants = new LRUCache<string, LRUCache<string, RefusedCaller>>({ max: tenantsMax })

  constructor(env: Pick<Env, 'nowMs'>) {
    this.#env = env
  }

  /** Notes a refusal. `tenant` is empty for a caller that is not known. */
  note(tenant: string, key: LimitKey, name: RefusedName): void {
    const callers = this.#tenants.get(tenant) ?? new LRUCache({ max: callersMax })
    this.#tenants.set(tenant, callers)
    const text = limitKeyText(key)
    const refused = 1 + (callers.get(text)?.refused ?? 0)
    callers.set(text, { name, row: key.row, refused, lastMs: this.#env.nowMs() })
  }

  /** Count of refusals of one caller of a tenant by a limit. */
  countOf(tenant: string, key: LimitKey): number {
    return this.#tenants.peek(tenant)?.peek(limitKeyText(key))?.refused ?? 0
  }

  /** The ones refused last come first. */
  of(tenant: string): readonly RefusedCaller[] {
    return [...this.#tenants.peek(tenant)?.values() ?? []]
  }
}
