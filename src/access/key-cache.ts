/**
 * A cache of the keys that this front door saw lately, so that requests need not ask the store.
 *
 * K1  While the store answers, what is known of a key is at most three seconds old.
 * K2  If it does not answer, keys that were valid stay so for a minute; others are `unavailable`.
 * K3  Unknown ids are remembered for a while, and push no known key out.
 * K4  Keys that were never seen here are looked up in turns, shared out by address, so that made-up
 *     keys delay no other address. The address is charged for each key that proves bad, and for
 *     those that were turned away. It is not charged before the look: it would then be charged for
 *     valid keys after a start, and many tenants may share an address.
 */

import { FairSemaphore, limitConcurrency, LRUCache } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { KeyTable } from './key-table.ts'
import { hashOf, isHashOf, keyFault, readKey } from './key.ts'
import type { KeyRow } from './key.ts'

/** Age at which an entry is looked up again in the background. */
const refreshAfterMs = 1_500
/** Age at which a request waits for the look. */
const usableMs = 3_000
/** Age at which an entry is useless, while the store does not answer. */
const withoutStoreMs = 60_000
/** Pause after a look that failed. */
const lookAgainMs = 1_000
/** Time after a failed look in which requests do not wait for another one. */
const failingMs = 4_000
const unknownMs = 2_000
const usedEveryMs = 60_000
const [knownMax, unknownMax] = [20_000, 20_000]
const looksAtOnce = 64
const looksOfUnknownKeys = {
  inAll: 32,
  each: 8,
  waiting: 4_096,
  waitingEach: 256,
  longestYields: true,
  full: 'Too many API keys that were not seen here before come from your address at once: ask ' +
    'again in a moment.',
} as const

/** The result of a search for a key. */
export type FoundKey =
  | { readonly kind: 'good'; readonly row: KeyRow; readonly hash: string; stillValid(): boolean }
  | { readonly kind: 'bad'; readonly hash: string; readonly reason: string }
  | { readonly kind: 'elsewhere'; readonly region: string }

/** Result of a look into the store, and the time it began. The result was true then or later. */
interface Look {
  readonly row: KeyRow | undefined
  readonly atMs: number
}

/** Looks into the store, failed looks, keys turned away in a flood, known and unknown ids kept. */
export type KeyStats = Readonly<
  Record<'looks' | 'failures' | 'turnedAway' | 'known' | 'unknown', number>
>

interface Entry {
  row: KeyRow
  lookedMs: number
  /** Time at which a look last failed. */
  failedMs: number
  usedMs: number
}

/** The table of keys, and the regions that a key may name. */
export interface KeyCacheParts {
  readonly keys: Pick<KeyTable, 'get' | 'touch'>
  readonly env: Env
  /** The region of this server. */
  readonly region: string
  readonly regions: readonly string[]
}

/** Caches keys at one front door, which owns it. */
export class KeyCache {
  readonly #keys: KeyCacheParts['keys']
  readonly #env: Env
  readonly #region: string
  readonly #regions: readonly string[]
  /** By id. A key counts as used when it proves good. */
  readonly #entries = new LRUCache<string, Entry>({ max: knownMax })
  /** Ids that did not exist, and when. */
  readonly #unknown = new LRUCache<string, number>({ max: unknownMax })
  readonly #looks = new Map<string, Promise<Look>>()
  readonly #soon = limitConcurrency(looksAtOnce)
  readonly #turns = new FairSemaphore(looksOfUnknownKeys)
  /** By address and id: looks that wait for their turn, or have it. */
  readonly #unknownKeys = new Map<string, Promise<Entry | undefined>>()
  /** Time at which a look for an unknown key last failed. */
  #unknownFailedMs = -Infinity
  #count = { looks: 0, failures: 0, turnedAway: 0 }

  constructor({ keys, env, region, regions }: KeyCacheParts) {
    this.#keys = keys
    this.#env = env
    this.#region = region
    this.#regions = regions
  }

  /**
   * Finds a key by its text. Throws `unavailable` if it cannot be checked, `full` if its address
   * asks for too many. `addressOf` is called only if the address is needed.
   */
  async find(text: string, addressOf: () => string): Promise<FoundKey> {
    const name = readKey(text)
    if (name !== undefined && name.region !== this.#region && this.#regions.includes(name.region)) {
      return { kind: 'elsewhere', region: name.region }
    }
    const hash = hashOf(text)
    const entry = name?.region === this.#region
      ? await this.#entryOf(name.id, addressOf)
      : undefined
    if (entry === undefined || !isHashOf(hash, entry.row)) {
      return { kind: 'bad', hash, reason: 'This API key is not known here.' }
    }
    const reason = keyFault(entry.row, this.#env.nowMs())
    if (reason !== undefined) return { kind: 'bad', hash, reason }
    this.#use(entry)
    return { kind: 'good', row: entry.row, hash, stillValid: () => this.#stillValid(entry) }
  }

  /** Counts since the cache was made, and its present size. */
  stats(): KeyStats {
    return { ...this.#count, known: this.#entries.size, unknown: this.#unknown.size }
  }

  async #entryOf(id: string, addressOf: () => string): Promise<Entry | undefined> {
    const nowMs = this.#env.monotonicMs()
    const entry = this.#entries.peek(id)
    if (entry === undefined) {
      if (nowMs - (this.#unknown.peek(id) ?? -Infinity) < unknownMs) return undefined
      return this.#unknownKey(id, addressOf())
    }
    return this.#fresh(entry)
  }

  /** The entry, looked up again if it is too old. */
  async #fresh(entry: Entry): Promise<Entry> {
    const nowMs = this.#env.monotonicMs()
    const ageMs = nowMs - entry.lookedMs
    const isFailing = nowMs - entry.failedMs < failingMs
    const waits = isFailing ? ageMs >= withoutStoreMs : ageMs >= usableMs
    if (waits) await this.#refresh(entry)
    else if (ageMs >= refreshAfterMs) void this.#refresh(entry)
    if (this.#isOutdated(entry)) throw unavailable()
    return entry
  }

  /** One look for all requests with the same key from the same address. */
  #unknownKey(id: string, address: string): Promise<Entry | undefined> {
    const name = `${address} ${id}`
    const before = this.#unknownKeys.get(name)
    if (before !== undefined) return before
    const turn = this.#inTurn(id, address).finally(() => this.#unknownKeys.delete(name))
    this.#unknownKeys.set(name, turn)
    return turn
  }

  async #inTurn(id: string, address: string): Promise<Entry | undefined> {
    const leave = await this.#turns.enter(address).catch((error: unknown) => {
      this.#count.turnedAway++
      throw error
    })
    try {
      return await this.#entryInTurn(id)
    } finally {
      leave()
    }
  }

  /** Looks a key up, unless it was seen from another address meanwhile. */
  async #entryInTurn(id: string): Promise<Entry | undefined> {
    const entry = this.#entries.peek(id)
    if (entry !== undefined) return this.#fresh(entry)
    // If the store does not answer, the looks behind need not find out one by one.
    if (this.#env.monotonicMs() - this.#unknownFailedMs < lookAgainMs) throw unavailable()
    try {
      return this.#learn(id, await this.#look(id, (work) => work()))
    } catch (error) {
      this.#unknownFailedMs = this.#env.monotonicMs()
      throw error
    }
  }

  /** Looks an entry up again. Never throws, as the entry knows how old it is. */
  async #refresh(entry: Entry): Promise<void> {
    const { id } = entry.row
    if (this.#env.monotonicMs() - entry.failedMs < lookAgainMs) return
    try {
      const { row, atMs } = await this.#look(id, this.#soon)
      if (row !== undefined) entry.row = row
      // Keys are never removed, but a store restored from a backup may lack it.
      else entry.row = { ...entry.row, revokedAtMs: entry.row.revokedAtMs ?? this.#env.nowMs() }
      entry.lookedMs = atMs
    } catch {
      entry.failedMs = this.#env.monotonicMs()
    }
  }

  /** Looks a key up once for all callers that want it at the same time. */
  #look(id: string, lane: <T>(work: () => Promise<T>) => Promise<T>): Promise<Look> {
    const under = this.#looks.get(id)
    if (under !== undefined) return under
    const look = lane(async () => {
      this.#count.looks++
      const atMs = this.#env.monotonicMs()
      return { row: await this.#keys.get(id), atMs }
    }).catch((error: unknown) => {
      this.#count.failures++
      throw error
    }).finally(() => this.#looks.delete(id))
    this.#looks.set(id, look)
    return look
  }

  #learn(id: string, { row, atMs }: Look): Entry | undefined {
    if (row === undefined) {
      this.#unknown.set(id, atMs)
      return undefined
    }
    const entry = this.#entries.peek(id) ??
      { row, lookedMs: atMs, failedMs: -Infinity, usedMs: -Infinity }
    this.#entries.set(id, entry)
    return entry
  }

  #use(entry: Entry): void {
    const { id } = entry.row
    this.#entries.set(id, entry)
    const nowMs = this.#env.monotonicMs()
    if (nowMs - entry.usedMs < usedEveryMs) return
    entry.usedMs = nowMs
    // The time is only shown to people, so a failure does no harm.
    this.#keys.touch(id, this.#env.nowMs()).catch(() => {})
  }

  #stillValid(entry: Entry): boolean {
    const ageMs = this.#env.monotonicMs() - entry.lookedMs
    if (ageMs >= refreshAfterMs && !this.#looks.has(entry.row.id)) void this.#refresh(entry)
    return keyFault(entry.row, this.#env.nowMs()) === undefined && !this.#isOutdated(entry)
  }

  #isOutdated({ lookedMs }: Entry): boolean {
    return this.#env.monotonicMs() - lookedMs >= withoutStoreMs
  }
}

function unavailable(): HeddleError {
  return new HeddleError('unavailable', 'API keys cannot be checked right now; try again.')
}
