/**
 * Removal of records whose data is stored elsewhere, such as the examples of a dataset. The record
 * is deleted first, so that no reader finds it. Its data is deleted after that: immediately, again
 * after a restart if that failed, and a last time when no writer can know of the record any more.
 */

import type { Env } from '../../../../cluster/index.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { Uuid } from '../../spans/span.ts'
import type { CatalogClient } from './catalog-client.ts'
import { namedId } from './named-id.ts'
import { wakeList } from './wake-list.ts'
import type { WakeEntry } from './wake-list.ts'

/** Kind of a record with data of its own. */
export type RemovedKind = 'dataset' | 'project' | 'queue'

/** Reads and deletions of one kind. All methods throw HeddleError. */
export interface RemovableKind {
  exists(tenant: string, id: Uuid): Promise<boolean>
  /** Deletes the record. Throws `not_found`. */
  delete(tenant: string, id: Uuid): Promise<void>
  /** Deletes the data of a record that is deleted. May be repeated. */
  erase(tenant: string, id: Uuid): Promise<void>
}

/** Catalogs, and the kinds of records. */
export interface PendingRemovalsDeps {
  readonly catalogs: CatalogClient
  readonly kinds: Readonly<Record<RemovedKind, RemovableKind>>
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid' | 'after' | 'log'>
}

/** Time after which no writer uses a record that it read before the deletion. */
const settledMs = 600_000
/** Pauses before the first check, between checks while removals are listed, and between others. */
const [firstMs, busyMs, idleMs] = [5_000, 60_000, 600_000]

/** Removals of one member. Each member finishes the removals of all. */
export class PendingRemovals {
  readonly #deps: PendingRemovalsDeps
  readonly #listed
  readonly #cautiousNowMs: () => number
  /** Removals whose data this process has deleted once. */
  readonly #erased = new Set<string>()
  /** Monotonic time at which this process first saw removals that a clock ahead has listed. */
  readonly #seenMs = new Map<string, number>()
  #stopTimer: () => void

  constructor(deps: PendingRemovalsDeps) {
    this.#deps = deps
    this.#listed = wakeList(deps.catalogs, deps.env, 'removal_wake',
      ({ tenant, id }) => namedId('removal', `${tenant}\n${id}`))
    this.#cautiousNowMs = cautiousClock(deps.env)
    this.#stopTimer = this.#checkIn(firstMs)
  }

  /**
   * Removes a record for every reader. Its data is deleted after that, also if this process dies.
   * Throws `not_found`.
   */
  async remove(kind: RemovedKind, tenant: string, id: Uuid): Promise<void> {
    const records = this.#deps.kinds[kind]
    if (await records.exists(tenant, id)) await this.#listed.add({ tenant, id: `${kind}/${id}` })
    await records.delete(tenant, id)
    this.#erase({ kind, tenant, id }).catch((error: unknown) => {
      const message = 'The data of a deleted record is still stored; its deletion is repeated.'
      this.#deps.env.log.warn(message, { kind, id, error })
    })
    this.#stopTimer()
    this.#stopTimer = this.#checkIn(busyMs)
  }

  /** True if the removal of a record was requested, and may not be finished. */
  has(kind: RemovedKind, tenant: string, id: Uuid): Promise<boolean> {
    return this.#listed.has({ tenant, id: `${kind}/${id}` })
  }

  /** Continues all removals that are listed. Returns how many remain. */
  async check(): Promise<number> {
    let left = 0
    const unlisted = new Set([...this.#erased, ...this.#seenMs.keys()])
    let page = await this.#listed.page()
    while (page.length > 0) {
      for (const entry of page) {
        unlisted.delete(keyOf({ ...readId(entry.id), tenant: entry.tenant }))
        if (!await this.#finish(entry)) left++
      }
      page = await this.#listed.page(page.at(-1)!.place)
    }
    // Other members have finished these.
    for (const key of unlisted) this.#forget(key)
    return left
  }

  close(): void {
    this.#stopTimer()
  }

  /** Returns true if the removal is finished. */
  async #finish(entry: WakeEntry): Promise<boolean> {
    const removal = { ...readId(entry.id), tenant: entry.tenant }
    const { kind, tenant, id } = removal
    const isSettled = this.#ageMs(keyOf(removal), entry) >= settledMs
    // A record that exists was not deleted, or was made again with its id.
    const exists = await this.#deps.kinds[kind].exists(tenant, id)
    if (!exists && (isSettled || !this.#erased.has(keyOf(removal)))) await this.#erase(removal)
    if (!isSettled) return false
    await this.#listed.remove(entry)
    this.#forget(keyOf(removal))
    return true
  }

  #forget(key: string): void {
    this.#erased.delete(key)
    this.#seenMs.delete(key)
  }

  /** The age of an entry, or for how long this process has seen it if a clock ahead has made it. */
  #ageMs(key: string, { place }: WakeEntry): number {
    const ageMs = this.#cautiousNowMs() - place.createdAtMs
    if (ageMs >= -settledMs) return ageMs
    const nowMs = this.#deps.env.monotonicMs()
    const seenMs = this.#seenMs.get(key) ?? nowMs
    this.#seenMs.set(key, seenMs)
    return nowMs - seenMs
  }

  async #erase(removal: NamedRecord): Promise<void> {
    const { kind, tenant, id } = removal
    await this.#deps.kinds[kind].erase(tenant, id)
    this.#erased.add(keyOf(removal))
  }

  #checkIn(ms: number): () => void {
    const { env } = this.#deps
    return env.after(ms, () => {
      this.check().catch((error: unknown) => {
        env.log.debug('Removals could not be finished; they are tried again.', { error })
        return 1
      }).then((left) => {
        this.#stopTimer()
        this.#stopTimer = this.#checkIn(left > 0 ? busyMs : idleMs)
      })
    })
  }
}

interface NamedRecord {
  readonly kind: RemovedKind
  readonly tenant: string
  readonly id: Uuid
}

function keyOf({ kind, tenant, id }: NamedRecord): string {
  return `${kind} ${id} ${tenant}`
}

function readId(text: string): Pick<NamedRecord, 'kind' | 'id'> {
  const [kind, id] = text.split('/') as [RemovedKind, Uuid]
  return { kind, id }
}
