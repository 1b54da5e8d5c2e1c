/** Gives operations the costs of what their models used, where they do not say them themselves. */

import { setImmediate } from 'node:timers/promises'

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { Calls } from '../calls/calls.ts'
import type { PlacedOperation } from './placing.ts'
import type { Usage } from '../spans/usage.ts'
import { modelNames } from './pricing/model-names.ts'
import type { ModelNames } from './pricing/model-names.ts'
import { PriceList } from './pricing/price-list.ts'
import type { SpanWriteNeeds } from './ingest-call.ts'

/** Milliseconds for which prices hold, from when they were asked for. */
const leaseMs = 5_000
const tenantsMax = 1_000
/** New names of one request that are looked for. Spans with others have no costs. */
const newNamesMax = 100

interface Entry {
  readonly list: Promise<PriceList>
  readonly untilMs: number
}

type PriceSource = Calls<Pick<SpanWriteNeeds, 'prices'>>

/** The prices of all tenants, as an ingest thread knows them. */
export class PriceCache {
  readonly #needs: PriceSource
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #entries = new LRUCache<string, Entry>({ max: tenantsMax })

  constructor(needs: PriceSource, env: Pick<Env, 'monotonicMs'>) {
    this.#needs = needs
    this.#env = env
  }

  /** The prices of a tenant. Throws `unavailable`. */
  of(tenant: string): Promise<PriceList> {
    const nowMs = this.#env.monotonicMs()
    const known = this.#entries.get(tenant)
    if (known !== undefined && known.untilMs > nowMs) return known.list
    const list = this.#needs.prices({ tenant }).then((all) => new PriceList(all))
    this.#entries.set(tenant, { list, untilMs: nowMs + leaseMs })
    list.catch(() => this.#entries.delete(tenant))
    return list
  }
}

/**
 * The same operations, with costs by the prices of the tenant. Prices are asked for only if a model
 * with a name used tokens and not all costs are given.
 */
export async function withPrices(prices: PriceCache, tenant: string,
  placed: readonly PlacedOperation[]): Promise<readonly PlacedOperation[]> {
  const names = new Map<PlacedOperation, ModelNames>()
  for (const one of placed) {
    const { members: { extra }, usage } = one.operation
    if (extra === undefined || usage.totalTokens === null || saysCost(usage)) continue
    const own = modelNames(extra)
    if (own !== undefined) names.set(one, own)
  }
  if (names.size === 0) return placed
  const list = await prices.of(tenant)
  const done: PlacedOperation[] = []
  let newNames = 0
  for (const one of placed) {
    const own = names.get(one)
    const isNew = own !== undefined && !list.knows(own)
    if (isNew && ++newNames <= newNamesMax) {
      // Other requests have their turn between two names.
      await setImmediate()
      await list.learn(own)
    }
    done.push(own === undefined || (isNew && newNames > newNamesMax) ? one : priced(list, one, own))
  }
  return done
}

function saysCost({ promptCost, completionCost, totalCost }: Usage): boolean {
  return totalCost !== null || (promptCost !== null && completionCost !== null)
}

function priced(list: PriceList, one: PlacedOperation, names: ModelNames): PlacedOperation {
  const { place: { startUs }, operation: { usage }, fields } = one
  const found = list.priced({ names, startUs, usage })
  if (found === undefined) return one
  const { promptCost, completionCost, totalCost, kinds } = found
  return { ...one, fields: { ...fields, promptCost, completionCost, totalCost, kinds } }
}
