/**
 * The memory that reads of this process share. A read takes what it needs before it reads or copies
 * anything. It waits until there is room, or is refused.
 *
 * 1. Bytes are counted once, as they are stored or sent. A process holds up to about four copies of
 *    them meanwhile.
 * 2. A tenant never has all of it, and of several that wait, each gets its turn.
 * 3. A read that holds something never waits. One that turns out to need more releases what it has,
 *    takes that much, and begins again.
 */

import { FairSemaphore } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { tenantOfNamespace } from './namespace-tenant.ts'

/** Bounds on the memory and the number of reads. */
export interface ReadLimits {
  /** Bytes of all reads. */
  readonly inAll: number
  /** Bytes of the reads of one tenant, and so of a single read. */
  readonly ofTenant: number
  /** Bytes above which reads continue one at a time, because each of their steps takes a while. */
  readonly large: number
  /** Characters of one answer, as strings have a maximum length. */
  readonly ofAnswer: number
  /** Reads of one tenant that may wait. */
  readonly waiting: number
  /** Of these, reads that gather much before they answer. They continue one at a time. */
  readonly gathering: number
  /** Time that a read may wait. */
  readonly waitMs: number
}

const mebibyte = 1024 * 1024

const readLimits: ReadLimits = { inAll: 512 * mebibyte, ofTenant: 256 * mebibyte,
  large: 8 * mebibyte, ofAnswer: 128 * mebibyte, waiting: 200, gathering: 20, waitMs: 30_000 }

/** Times of what is left that a tenant may have, so that something is left for the others. */
const share = 3
/** Bytes with which a read that was counted too low begins again, at least. */
const grown = (bytes: number) => (bytes < 32 * mebibyte ? 4 : 2) * bytes

/** Reads that wait for the turn of their tenant. Others are limited there. */
const turnLimits = { inAll: 10_000, each: 1, waiting: 10_000, full: '' }

interface Waiter {
  readonly bytes: number
  admit(): void
}

interface Tenant {
  bytes: number
  readonly waiting: Set<Waiter>
}

/** Figures of reads for metrics. */
export interface ReadStats {
  readonly bytes: number
  readonly waiting: number
  /** Reads that were refused since the process started. */
  readonly refused: number
}

/** Tenant of a read, and the memory that it takes at first. */
export interface Reading {
  readonly tenant: string
  readonly bytes: number
  /** Bytes that the read may take; by default as much as there is for a tenant. */
  readonly most?: number | undefined
  /** Aborts, with a HeddleError as its reason, when the caller has gone. */
  readonly cancelled?: AbortSignal | undefined
}

/** Shares memory among reads. One for each process. */
export class ReadQuota {
  readonly limits: ReadLimits
  readonly #env: Pick<Env, 'after'>
  /** Tenants that have or want memory. The one that was let in last comes last. */
  readonly #tenants = new Map<string, Tenant>()
  readonly #turns: FairSemaphore
  #bytes = 0
  #hasLarge = false
  #waiting = 0
  #refused = 0

  constructor(env: Pick<Env, 'after'>, limits = readLimits) {
    this.#env = env
    this.limits = limits
    this.#turns = new FairSemaphore({ ...turnLimits, waitingEach: limits.gathering })
  }

  get stats(): ReadStats {
    return { bytes: this.#bytes, waiting: this.#waiting, refused: this.#refused }
  }

  /**
   * Waits for the turn of a tenant to gather much. Several reads that each hold a part might
   * otherwise never get memory for the rest. Resolves with the function that ends the turn. Throws
   * as `read` does.
   */
  async turn(tenant: string, cancelled?: AbortSignal): Promise<() => void> {
    const late = new AbortController()
    const stop = this.#env.after(this.limits.waitMs, () => late.abort(this.refusal()))
    try {
      const signal = cancelled ? AbortSignal.any([cancelled, late.signal]) : late.signal
      return await this.#turns.enter(tenantOfNamespace(tenant), signal)
    } catch (error) {
      throw HeddleError.from(error).code === 'full' ? this.refusal() : error
    } finally {
      stop()
    }
  }

  /** Memory for something that grows as it is read, such as an answer that is being gathered. */
  share(tenant: string): ReadShare {
    return new ReadShare(this, tenant)
  }

  /**
   * Does `work` with as much memory as that turns out to need. It is done again with more as long
   * as it throws `too_large` with the bytes that it needs. What it needs is not counted any more
   * when it is done. Throws `unavailable` if there is no room for too long, or too many wait.
   */
  async read<Result>(reading: Reading,
    work: (allowance: ReadAllowance) => Promise<Result>): Promise<Result> {
    const { tenant, cancelled } = reading
    const most = Math.min(reading.most ?? Infinity, this.limits.ofTenant)
    for (let bytes = Math.min(reading.bytes, most);;) {
      const taken = bytes
      await this.#take(tenant, taken, cancelled)
      try {
        return await work(new ReadAllowance(taken, cancelled))
      } catch (error) {
        const needed = neededBytes(error)
        if (needed === undefined) throw error
        if (bytes === most || needed > most) throw tooLarge(most, needed)
        bytes = Math.min(most, Math.max(grown(bytes), needed))
      } finally {
        if (taken > this.limits.large) this.#hasLarge = false
        this.add(tenant, -taken)
      }
    }
  }

  /** True if there is room for so many further bytes of a tenant. */
  hasRoom(tenant: string, bytes: number): boolean {
    const own = (this.#tenants.get(tenantOfNamespace(tenant))?.bytes ?? 0) + bytes
    const left = this.limits.inAll - this.#bytes - bytes
    return own <= this.limits.ofTenant && own <= share * left
  }

  /** Counts bytes without asking. A negative number lets others in. */
  add(tenant: string, bytes: number): void {
    if (bytes === 0) return
    const known = this.#tenantOf(tenant)
    known.bytes += bytes
    this.#bytes += bytes
    this.#forget(tenant, known)
    if (bytes < 0 && this.#waiting > 0) this.#letNextIn()
  }

  /** The error for a read that there is no room for. */
  refusal(): HeddleError {
    this.#refused += 1
    return new HeddleError('unavailable', 'Reads take up all the memory that there is for them: ' +
      'ask again in a moment.', { retryAfterSeconds: 5 })
  }

  async #take(tenant: string, bytes: number, cancelled: AbortSignal | undefined): Promise<void> {
    cancelled?.throwIfAborted()
    const isNext = (this.#tenants.get(tenantOfNamespace(tenant))?.waiting.size ?? 0) === 0
    if (isNext && this.#mayBegin(tenant, bytes)) return this.#begin(tenant, bytes)
    await this.#wait(tenant, bytes, cancelled)
  }

  #mayBegin(tenant: string, bytes: number): boolean {
    return this.hasRoom(tenant, bytes) && !(bytes > this.limits.large && this.#hasLarge)
  }

  #begin(tenant: string, bytes: number): void {
    if (bytes > this.limits.large) this.#hasLarge = true
    this.add(tenant, bytes)
  }

  #wait(tenant: string, bytes: number, cancelled: AbortSignal | undefined): Promise<void> {
    const known = this.#tenantOf(tenant)
    if (known.waiting.size >= this.limits.waiting) throw this.refusal()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      stop()
      cancelled?.removeEventListener('abort', abort)
      this.#waiting -= 1
      known.waiting.delete(waiter)
    }
    const giveUp = (reason: unknown) => {
      leave()
      this.#forget(tenant, known)
      reject(reason)
      // Those behind it may need less.
      this.#letNextIn()
    }
    const abort = () => giveUp(cancelled!.reason)
    const stop = this.#env.after(this.limits.waitMs, () => giveUp(this.refusal()))
    const waiter = { bytes, admit: () => {
      leave()
      this.#begin(tenant, bytes)
      resolve()
    } }
    cancelled?.addEventListener('abort', abort)
    this.#waiting += 1
    known.waiting.add(waiter)
    return promise
  }

  /** Lets in all reads that there is room for, of each tenant in turn, and of each in order. */
  #letNextIn(): void {
    for (let admitted = true; admitted;) {
      admitted = false
      for (const [tenant, known] of [...this.#tenants]) {
        const [next] = known.waiting
        if (next === undefined || !this.#mayBegin(tenant, next.bytes)) continue
        next.admit()
        this.#tenants.delete(tenantOfNamespace(tenant))
        this.#tenants.set(tenant, known)
        admitted = true
      }
    }
  }

  #tenantOf(tenant: string): Tenant {
    const counted = tenantOfNamespace(tenant)
    const known = this.#tenants.get(counted) ?? { bytes: 0, waiting: new Set() }
    this.#tenants.set(counted, known)
    return known
  }

  #forget(tenant: string, { bytes, waiting }: Tenant): void {
    if (bytes === 0 && waiting.size === 0) this.#tenants.delete(tenantOfNamespace(tenant))
  }
}

/** Memory that one read may take. It counts the bytes that the read keeps. */
export class ReadAllowance {
  readonly #bytes: number
  readonly #gone: AbortSignal | undefined
  #kept = 0

  constructor(bytes: number, cancelled?: AbortSignal) {
    this.#bytes = bytes
    this.#gone = cancelled
  }

  get cancelled(): AbortSignal | undefined {
    return this.#gone
  }

  get left(): number {
    return this.#bytes - this.#kept
  }

  get kept(): number {
    return this.#kept
  }

  /**
   * Counts bytes that are kept; a negative number for dropped ones. Throws `too_large` if that is
   * more than there is, with `bytes` among its details: what is needed at least. Throws the
   * signal's reason if the caller has gone.
   */
  keep(bytes: number): void {
    this.#gone?.throwIfAborted()
    this.#kept += bytes
    if (this.#kept <= this.#bytes) return
    throw new HeddleError('too_large', 'This takes more memory than was estimated.', {
      bytes: this.#kept,
    })
  }

  /**
   * Reads something that says itself how much it takes, beside what is kept. Throws `too_large`
   * with the sum.
   */
  async beside<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read()
    } catch (error) {
      const needed = neededBytes(error)
      if (needed === undefined) throw error
      throw new HeddleError('too_large', undefined, { bytes: this.#kept + needed }, {
        cause: error,
      })
    }
  }

  /** A part of the read, whose result takes less than making it. */
  part(): ReadPart {
    return new ReadPart(this)
  }
}

/** Memory of one part of a read. */
export class ReadPart {
  readonly #whole: ReadAllowance
  #kept = 0

  constructor(whole: ReadAllowance) {
    this.#whole = whole
  }

  get left(): number {
    return this.#whole.left
  }

  /** As `beside` of the whole read. */
  beside<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.#whole.beside(read)
  }

  /** As `keep` of the whole read. */
  keep(bytes: number): void {
    this.#kept += bytes
    this.#whole.keep(bytes)
  }

  /** Ends the part. Only its result of so many bytes is left. */
  done(bytes: number): void {
    this.keep(bytes - this.#kept)
  }
}

/** Memory of one tenant that is counted as it is used. Dispose of it when it is free again. */
export class ReadShare implements Disposable {
  readonly #quota: ReadQuota
  readonly #tenant: string
  #bytes = 0

  constructor(quota: ReadQuota, tenant: string) {
    this.#quota = quota
    this.#tenant = tenant
  }

  /**
   * Counts texts. Throws `too_large` if the answer gets too large with them, `unavailable` if there
   * is no room for them.
   */
  take(...texts: readonly { readonly length: number }[]): void {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    const { ofAnswer } = this.#quota.limits
    if (this.#bytes + length > ofAnswer) {
      throw new HeddleError('too_large', 'The answer would be longer than ' +
        `${ofAnswer / mebibyte} MB: ask for a smaller page with "limit".`)
    }
    if (!this.#quota.hasRoom(this.#tenant, length)) throw this.#quota.refusal()
    this.#add(length)
  }

  /** As `take`, but never throws: for texts that exist already. */
  hold(...texts: readonly { readonly length: number }[]): void {
    this.#add(texts.reduce((sum, text) => sum + text.length, 0))
  }

  [Symbol.dispose](): void {
    this.#add(-this.#bytes)
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    this.#quota.add(this.#tenant, bytes)
  }
}

function neededBytes(error: unknown): number | undefined {
  if (!(error instanceof HeddleError) || error.code !== 'too_large') return undefined
  return error.details.bytes
}

function tooLarge(most: number, bytes: number): HeddleError {
  return new HeddleError('too_large', `What is to be read takes more than ${most / mebibyte} MB ` +
    'of memory: ask for less of it, with "limit" or "select".', { bytes })
}
