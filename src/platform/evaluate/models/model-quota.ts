/**
 * Daily quota of a tenant for models, in the playground and in experiments: calls and tokens.
 *
 * 1. The use of a day is a record of the tenant, so that it outlives a restart and counts on all
 *    members. What a member counted is added to it every two seconds: that is lost if the member
 *    dies, and others learn of it as late.
 * 2. A call counts before it is made, and its tokens when they are known. Those of the calls in
 *    progress may so exceed the quota.
 * 3. If the record cannot be reached, what is known of it counts.
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock, nextUseDay, tenantOfNamespace } from '../../../limits/index.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'

/** Calls and tokens that a tenant may use on a day in UTC; Infinity for any number. */
export interface ModelQuotaLimits {
  readonly calls: number
  readonly tokens: number
}

/** Both quotas of models, by their names in refusals, reports and metrics. */
export const modelQuotaNames = ['model_calls', 'model_tokens'] as const

/** The name of a quota of models. */
export type ModelQuotaName = typeof modelQuotaNames[number]

/** A quota of models, and the tenant's use of it today on all members. */
export interface ModelQuotaUse {
  readonly name: ModelQuotaName
  /** Infinity for no limit. */
  readonly limit: number
  readonly used: number
}

/** Use and refusals of models, for metrics. */
export interface ModelQuotaStats {
  /** The largest part of each quota that a tenant has used today, as far as known here. */
  readonly highest: Readonly<Record<ModelQuotaName, number>>
  readonly refused: Readonly<Record<ModelQuotaName, number>>
}

/** Counts the use of models. */
export interface ModelQuota {
  /** Throws `over_quota` if the tenant has used up its day. Counts nothing. */
  requireLeft(tenant: string): Promise<void>
  /** Counts a call. Throws `over_quota`. */
  begin(tenant: string): Promise<void>
  /** Counts the tokens of a call that has ended. */
  spend(tenant: string, tokens: number): void
  /** Use of the tenant today, as it was at most five seconds ago. */
  useOf(tenant: string): Promise<readonly ModelQuotaUse[]>
  stats(): ModelQuotaStats
  /** Writes down what was counted. */
  close(): Promise<void>
}

interface Use {
  readonly calls: number
  readonly tokens: number
}

/** The use of one tenant on one day, as this member knows it. */
interface Known {
  readonly day: string
  /** As the record had it when it was read or written last. */
  kept: Use
  /** By the monotonic clock. */
  readAtMs: number
  /** Counted here, and not in the record yet. */
  own: Use
  syncing: Promise<void> | undefined
  stop: (() => void) | undefined
}

const none: Use = { calls: 0, tokens: 0 }
/** Milliseconds until a member writes its counts, and for which it trusts the use it knows. */
const [writtenAfterMs, freshMs] = [2_000, 5_000]
/** Tries to change a record that others change as well. */
const triesMax = 10
const recordId = 'use'
const dayMs = 86_400_000

/** Over the catalogs of all tenants. */
export function modelQuotaOver(catalogs: Pick<CatalogClient, 'get' | 'create' | 'change'>,
  limits: ModelQuotaLimits, env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'log'>): ModelQuota {
  return new CatalogModelQuota(catalogs, limits, env)
}

class CatalogModelQuota implements ModelQuota {
  readonly #catalogs: Pick<CatalogClient, 'get' | 'create' | 'change'>
  readonly #limits: ModelQuotaLimits
  readonly #env: Pick<Env, 'nowMs' | 'monotonicMs' | 'after' | 'log'>
  /** Days end by this clock: a clock that jumps ahead must not free the use of a day. */
  readonly #cautiousNowMs: CautiousClock
  /** Not bounded: tenants have keys, which their operator makes. */
  readonly #tenants = new Map<string, Known>()
  readonly #refused: Record<ModelQuotaName, number> = { model_calls: 0, model_tokens: 0 }

  constructor(...[catalogs, limits, env]: Parameters<typeof modelQuotaOver>) {
    this.#catalogs = catalogs
    this.#limits = limits
    this.#env = env
    this.#cautiousNowMs = cautiousClock(env)
  }

  async requireLeft(namespace: string): Promise<void> {
    this.#requireLeft(await this.#fresh(tenantOfNamespace(namespace)))
  }

  async useOf(namespace: string): Promise<readonly ModelQuotaUse[]> {
    return this.#usesIn(await this.#fresh(tenantOfNamespace(namespace)))
  }

  stats(): ModelQuotaStats {
    const day = this.#today()
    const uses = [...this.#tenants.values()].filter((known) => known.day === day)
      .flatMap((known) => this.#usesIn(known))
    const highest = (quota: ModelQuotaName) =>
      uses.reduce((most, { name, used, limit }) =>
        name === quota
          ? Math.max(most, used / limit)
          : most, 0)
    return {
      highest: { model_calls: highest('model_calls'), model_tokens: highest('model_tokens') },
      refused: { ...this.#refused },
    }
  }

  async begin(namespace: string): Promise<void> {
    await this.requireLeft(namespace)
    // Nothing happens between the last look and the count.
    const known = this.#of(tenantOfNamespace(namespace))
    this.#requireLeft(known)
    this.#add(tenantOfNamespace(namespace), known, { calls: 1, tokens: 0 })
  }

  spend(namespace: string, tokens: number): void {
    const tenant = tenantOfNamespace(namespace)
    this.#add(tenant, this.#of(tenant), { calls: 0, tokens })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tenants].map(([tenant, known]) => {
      known.stop?.()
      return known.own === none ? undefined : this.#sync(tenant, known)
    }))
  }

  #today(): string {
    return nextUseDay('', this.#cautiousNowMs()).day
  }

  /** Use of the tenant as known here, exchanged with its record if older than `freshMs`. */
  async #fresh(tenant: string): Promise<Known> {
    const known = this.#of(tenant)
    if (this.#env.monotonicMs() - known.readAtMs > freshMs) await this.#sync(tenant, known)
    return known
  }

  #usesIn({ kept, own }: Known): readonly ModelQuotaUse[] {
    const { calls, tokens } = sum(kept, own)
    return [{ name: 'model_calls', limit: this.#limits.calls, used: calls }, { name: 'model_tokens',
      limit: this.#limits.tokens, used: tokens }]
  }

  #of(tenant: string): Known {
    const day = this.#today()
    const before = this.#tenants.get(tenant)
    if (before?.day === day) return before
    before?.stop?.()
    const known: Known = { day, kept: none, readAtMs: -Infinity, own: none, syncing: undefined,
      stop: undefined }
    this.#tenants.set(tenant, known)
    return known
  }

  #add(tenant: string, known: Known, more: Use): void {
    known.own = sum(known.own, more)
    known.stop ??= this.#env.after(writtenAfterMs, () => {
      known.stop = undefined
      void this.#sync(tenant, known)
    })
  }

  #requireLeft(known: Known): void {
    const full = this.#usesIn(known).find(({ used, limit }) => used >= limit)
    if (full === undefined) return
    this.#refused[full.name] += 1
    throw this.#refusal(full)
  }

  #refusal({ name, limit }: ModelQuotaUse): HeddleError {
    const what = name === 'model_calls' ? 'calls of models' : 'tokens of models'
    const leftMs = dayMs - this.#cautiousNowMs() % dayMs
    return new HeddleError('over_quota', `The playground and experiments have used ${limit} ` +
      `${what} today, which is the quota of your tenant: ask again after midnight in UTC.`, {
      quota: { name, limit },
      retryAfterSeconds: Math.ceil(leftMs / 1_000),
    })
  }

  /** Adds what was counted here to the record, and reads what others counted. */
  #sync(tenant: string, known: Known): Promise<void> {
    known.syncing ??= this.#exchange(tenant, known).catch((error: unknown) =>
      this.#env.log.warn('The use of models by a tenant cannot be written down now.', { error })
    ).finally(() => {
      known.syncing = undefined
      known.readAtMs = this.#env.monotonicMs()
    })
    return known.syncing
  }

  async #exchange(tenant: string, known: Known): Promise<void> {
    const catalog = { tenant, collection: 'model_use' } as const
    for (let tries = 1;; tries++) {
      const [record] = await this.#catalogs.get(catalog, [recordId])
      const before = record && JSON.parse(record.bodyJson) as Use & { readonly day: string }
      const { day, isNew } = nextUseDay(before?.day ?? '', this.#cautiousNowMs())
      // Another member has started the next day: the day of `known` has ended.
      if (day > known.day) return
      const { own } = known
      const kept = before === undefined || isNew ? none : pick(before)
      const after = sum(kept, own)
      try {
        if (own !== none) await this.#write(catalog, before, { day: known.day, ...after })
        known.kept = after
        known.own = minus(known.own, own)
        return
      } catch (error) {
        const { code } = HeddleError.from(error)
        if ((code !== 'stale' && code !== 'exists') || tries === triesMax) throw error
      }
    }
  }

  async #write(catalog: { readonly tenant: string; readonly collection: 'model_use' },
    before: (Use & { readonly day: string }) | undefined, body: object): Promise<void> {
    const bodyJson = JSON.stringify(body)
    if (before === undefined) {
      await this.#catalogs.create(catalog, { id: recordId, name: recordId,
        orderMs: this.#env.nowMs(), parentId: '', metadataJson: '{}', bodyJson })
      return
    }
    await this.#catalogs.change(catalog, recordId, { bodyJson, expected: { ...before } })
  }
}

function sum(one: Use, other: Use): Use {
  return { calls: one.calls + other.calls, tokens: one.tokens + other.tokens }
}

function minus(one: Use, other: Use): Use {
  return one === other
    ? none
    : { calls: one.calls - other.calls, tokens: one.tokens - other.tokens }
}

function pick({ calls, tokens }: Use): Use {
  return { calls, tokens }
}
