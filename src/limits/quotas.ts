/**
 * Quotas of a tenant, checked before a request is carried out.
 *
 * 1. What is stored is the tenant's in all of the cluster. The owners are asked, at most once at a
 *    time. While the tenant has a fifth of each quota left, requests do not wait for the answer,
 *    which may be a second old.
 * 2. What was let through since the owners were asked counts too, so that requests at the same time
 *    do not all take the last place.
 * 3. Streams are counted here, since their quota is of one front door.
 * 4. If the owners cannot be asked, their last answer counts.
 */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { QuotaSettings } from '../settings/index.ts'
import { tenantOfNamespace } from './namespace-tenant.ts'
import { noUse } from './tenant-use.ts'
import type { TenantUse } from './tenant-use.ts'

/** Quotas of a tenant, as its server is set; Infinity for no limit. */
export type QuotaLimits = QuotaSettings

/** Name of a quota in the code. `quotaWords` has the names for people. */
export type QuotaName = keyof QuotaLimits

/** The limits of each tenant, and how its use is found. */
export interface QuotaOptions {
  readonly limits: QuotaLimits
  /** Reads the use of a tenant in all of the cluster. */
  use(tenant: string): Promise<TenantUse>
}

/** Additions of a request to the use of its tenant, besides bytes. */
export interface QuotaRequest {
  readonly threads?: 1
  readonly runs?: 1
  readonly delayedRuns?: 1
  readonly crons?: 1
  /** True if the thread exists already, so that the request adds none. */
  exists?(): Promise<boolean>
}

/** Use and refusals, for metrics. */
export interface QuotaStats {
  /** The largest part of each quota that is used by a tenant, as far as known here. */
  readonly highest: Readonly<Record<QuotaName, number>>
  readonly refused: Readonly<Record<QuotaName, number>>
}

/** Use of one quota by a tenant. */
export interface QuotaUse {
  readonly name: QuotaName
  /** Infinity for no limit. */
  readonly limit: number
  readonly used: number
}

/** All quotas, as metrics list them. */
export const quotaNames = ['bytes', 'threads', 'runs', 'delayedRuns', 'crons', 'streams'] as const

/** Names of quotas in refusals and metrics. */
export const quotaWords: Readonly<Record<QuotaName, string>> = { bytes: 'stored_bytes',
  threads: 'threads', runs: 'unfinished_runs', delayedRuns: 'delayed_runs', crons: 'crons',
  streams: 'streams' }

/** Quotas of a tenant without any limit. */
export const unlimited: QuotaLimits = { bytes: Infinity, threads: Infinity, runs: Infinity,
  delayedRuns: Infinity, crons: Infinity, streams: Infinity }

/** Quotas that refuse until the tenant deletes something. Others pass by themselves. */
const lasting: ReadonlySet<QuotaName> = new Set(['bytes', 'threads', 'crons'])

const messageOf: Readonly<Record<QuotaName, (limit: number) => string>> = {
  bytes: (limit) =>
    `More than ${limit} bytes are stored already, which is the quota of your ` +
    'tenant: delete threads, assistants or items that you do not need.',
  threads: (limit) =>
    `There are ${limit} threads already, which is the quota of your tenant: ` +
    'delete some that you do not need.',
  runs: (limit) =>
    `${limit} runs are not finished yet, which is the quota of your tenant: ask ` +
    'again when some are.',
  delayedRuns: (limit) =>
    `${limit} runs wait for their time already, which is the quota of your ` +
    'tenant: ask again when some have begun.',
  crons: (limit) =>
    `There are ${limit} crons already, which is the quota of your tenant: ` +
    'delete some that you do not need.',
  streams: (limit) =>
    `${limit} streams and waiting requests are open already, which is the ` +
    'quota of your tenant: ask again when some have ended.',
}

const [freshMs, farShare] = [1_000, 0.8]

type Counted = 'threads' | 'runs' | 'delayedRuns' | 'crons'
type Counts = Record<Counted, number>

const counted = ['threads', 'runs', 'delayedRuns', 'crons'] as const

interface Known {
  /** The owners' last answer; undefined before the first. */
  use: TenantUse | undefined
  askedMs: number
  asking: Promise<void> | undefined
  /** `underWay` is let through and not done, `done` is done since the owners were asked. */
  readonly underWay: Counts
  readonly done: Counts
  streams: number
}

/** Checks quotas at one front door, which owns it. */
export class Quotas {
  readonly #options: QuotaOptions
  readonly #env: Pick<Env, 'monotonicMs'>
  /** Not bounded: tenants have keys, which their operator makes, so there are not too many. */
  readonly #tenants = new Map<string, Known>()
  readonly #refused = { bytes: 0, threads: 0, runs: 0, delayedRuns: 0, crons: 0, streams: 0 }
  readonly #isNeeded: boolean

  constructor(options: QuotaOptions, env: Pick<Env, 'monotonicMs'>) {
    this.#options = options
    this.#env = env
    const { bytes, threads, runs, delayedRuns, crons } = options.limits
    this.#isNeeded = Math.min(bytes, threads, runs, delayedRuns, crons) < Infinity
  }

  /** Does `work` if the tenant may add `wanted`. Throws `over_quota` or `out_of_quota`. */
  async within<Result>(tenant: string, wanted: QuotaRequest,
    work: () => Promise<Result>): Promise<Result> {
    if (!this.#isNeeded) return await work()
    const known = this.#of(tenant)
    const added = await this.#admit(tenant, known, wanted)
    try {
      const result = await work()
      for (const name of added) known.done[name]++
      return result
    } finally {
      for (const name of added) known.underWay[name]--
    }
  }

  /** Counts an open stream until the result is disposed of. Throws `over_quota`. */
  stream(tenant: string): Disposable {
    const known = this.#of(tenant)
    if (known.streams >= this.#options.limits.streams) throw this.#refusal('streams')
    known.streams++
    let open = true
    return { [Symbol.dispose]: () => {
      if (open) known.streams--
      open = false
    } }
  }

  /** Use of each quota by a tenant, and its limit. Owners are asked at most once a second. */
  async useOf(tenant: string): Promise<readonly QuotaUse[]> {
    const known = this.#of(tenant)
    const isFresh = this.#env.monotonicMs() - known.askedMs <= freshMs
    if (known.use === undefined || !isFresh) await this.#ask(tenant, known)
    return quotaNames.map((name) => ({ name, limit: this.#options.limits[name],
      used: usedOf(known, name) })
    )
  }

  stats(): QuotaStats {
    const highest = { bytes: 0, threads: 0, runs: 0, delayedRuns: 0, crons: 0, streams: 0 }
    for (const known of this.#tenants.values()) {
      for (const name of quotaNames) {
        const part = usedOf(known, name) / this.#options.limits[name]
        highest[name] = Math.max(highest[name], part)
      }
    }
    return { highest, refused: { ...this.#refused } }
  }

  /** Returns the counts of work in progress. Nothing is awaited between the last look and that. */
  async #admit(tenant: string, known: Known, wanted: QuotaRequest): Promise<readonly Counted[]> {
    const added = counted.filter((name) => wanted[name] !== undefined)
    if (known.use === undefined || this.#ended(known, added, farShare) !== undefined) {
      await this.#ask(tenant, known)
    } else if (this.#env.monotonicMs() - known.askedMs > freshMs) void this.#ask(tenant, known)
    const ended = this.#ended(known, added)
    if (ended === undefined) {
      for (const name of added) known.underWay[name]++
      return added
    }
    const { exists, threads: _, ...others } = wanted
    if (ended !== 'threads' || !await exists?.()) throw this.#refusal(ended)
    return await this.#admit(tenant, known, others)
  }

  /** The quota that would be exceeded; undefined if none. */
  #ended(known: Known, added: readonly Counted[], share = 1): QuotaName | undefined {
    const { limits } = this.#options
    if (usedOf(known, 'bytes') >= limits.bytes * share) return 'bytes'
    return added.find((name) => usedOf(known, name) + 1 > limits[name] * share)
  }

  #ask(tenant: string, known: Known): Promise<void> {
    known.asking ??= this.#answer(tenant, known).finally(() => {
      known.asking = undefined
    })
    return known.asking
  }

  async #answer(tenant: string, known: Known): Promise<void> {
    const before = { ...known.done }
    known.askedMs = this.#env.monotonicMs()
    try {
      known.use = await this.#options.use(tenantOfNamespace(tenant))
      for (const name of counted) known.done[name] -= before[name]
    } catch {
      known.use ??= noUse
    }
  }

  #of(tenant: string): Known {
    const counted = tenantOfNamespace(tenant)
    const known = this.#tenants.get(counted) ?? newTenant()
    this.#tenants.set(counted, known)
    return known
  }

  #refusal(name: QuotaName): HeddleError {
    this.#refused[name]++
    const limit = this.#options.limits[name]
    return new HeddleError(lasting.has(name) ? 'out_of_quota' : 'over_quota',
      messageOf[name](limit), { quota: { name: quotaWords[name], limit } })
  }
}

function newTenant(): Known {
  return { use: undefined, askedMs: -Infinity, asking: undefined, streams: 0,
    underWay: { threads: 0, runs: 0, delayedRuns: 0, crons: 0 },
    done: { threads: 0, runs: 0, delayedRuns: 0, crons: 0 } }
}

function usedOf({ use = noUse, underWay, done, streams }: Known, name: QuotaName): number {
  switch (name) {
    case 'bytes':
      return use.bytes
    case 'streams':
      return streams
    case 'runs':
      return use.runs - use.delayedRuns + underWay.runs + done.runs
    default:
      return use[name] + underWay[name] + done[name]
  }
}
