/** The graph processes of one revision: started when there is work, replaced when they die. */

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import { abortable } from './abortable.ts'
import type { LoadedProcess } from './load-revision.ts'
import { choose, isOverdue, isSuperseded, useOf } from './retention.ts'
import { RevisionProcess } from './revision-process.ts'
import type { ProcessLease, ProcessWork } from './revision-process.ts'

/** What the processes of a revision are started with, and what they report. */
export interface RevisionProcessesParts {
  readonly revision: string
  readonly env: Env
  /** The deployment as it is known now; undefined if it is gone. */
  readonly deployment: () => Deployment | undefined
  /** The same, looked for if it is not known. Throws `not_found`. */
  readonly find: () => Promise<Deployment>
  /** Of the secrets that a process gets now. */
  readonly secretVersions: () => Promise<string>
  readonly load: (process: RevisionProcess,
    died: (reason: string) => void) => Promise<LoadedProcess>
  readonly started: () => void
  readonly died: (reason: string) => void
  readonly broke: (error: HeddleError) => void
  /** A process has begun to load, or has become ready or idle, or has ended. */
  readonly changed: () => void
}

/** Pauses before the next start. They grow while processes die soon after theirs. */
const pauses = { firstMs: 100, longestMs: 10_000 }
/** A process that lived this long did not die of its start. */
const livedMs = 60_000

/** Keeps at most one process for each version of the secrets. */
export class RevisionProcesses {
  readonly #parts: RevisionProcessesParts
  readonly #all = new Map<RevisionProcess, Promise<void>>()
  readonly #ending = new Set<Promise<void>>()
  /** How often in a row it could not be loaded, or died soon. */
  #failures = 0
  #retryAtMs = Number.NEGATIVE_INFINITY
  /** The secrets with which it could not be loaded the last time; null if it was. */
  #brokenWith: number | null = null
  #closed = false
  #deaths = 0

  constructor(parts: RevisionProcessesParts) {
    this.#parts = parts
  }

  get revision(): string {
    return this.#parts.revision
  }
  /** The newest first. */
  get all(): readonly RevisionProcess[] {
    return [...this.#all.keys()].toReversed()
  }
  /** True while it waits to be tried again. */
  get isBroken(): boolean {
    return this.#brokenWith !== null && this.#parts.env.monotonicMs() < this.#retryAtMs
  }
  get isEnding(): boolean {
    return this.#ending.size > 0
  }
  get deaths(): number {
    return this.#deaths
  }

  /**
   * A process for work, loaded if there is none. Throws HeddleError, and the reason of the signal:
   * what waits in vain is dropped, and loading goes on.
   */
  async take(work: ProcessWork, signal?: AbortSignal): Promise<ProcessLease> {
    for (;;) {
      const deployment = await abortable(this.#parts.find(), signal)
      if (this.#closed) throw goingAway()
      if (deployment.removing) throw new HeddleError('not_found', 'The deployment was removed.')
      const process = this.#usable(deployment)
      if (process) return this.#lease(process, work)
      const pauseMs = this.#retryAtMs - this.#parts.env.monotonicMs()
      const loading = this.#loading(deployment.envVersion)
      const coming = loading ? this.#all.get(loading)! : pauseMs > 0
        ? this.#pause(pauseMs)
        : this.#start(deployment.envVersion)
      await abortable(coming, signal)
    }
  }

  /**
   * A process with these secrets or newer ones, started at once if there is none. Throws
   * HeddleError.
   */
  async prepare(envVersion: number,
    withinMs?: number): Promise<ProcessLease & { readonly isFresh: boolean }> {
    let isFresh = false
    for (;;) {
      const deployment = await this.#parts.find()
      // A roll-out of secrets that failed has left processes with those of its time.
      const versions = envVersion > deployment.envVersion
        ? await this.#parts.secretVersions()
        : undefined
      if (this.#closed) throw goingAway()
      const ready = choose(this.all.filter(({ isReady }) => isReady), envVersion)
      if (ready && (versions ?? ready.secretVersions) === ready.secretVersions) {
        return { ...this.#lease(ready, 'asking'), isFresh }
      }
      ready?.leave()
      const loading = this.#loading(envVersion)
      isFresh = loading === undefined
      await (loading ? this.#all.get(loading) : this.#start(envVersion, withinMs))
    }
  }

  /** Ends processes that are not kept any more. Call from time to time, and after any change. */
  settle(): void {
    const deployment = this.#parts.deployment()
    const use = useOf(deployment, this.#parts.revision)
    const nowMs = this.#parts.env.monotonicMs()
    for (const process of this.all) {
      if (isSuperseded(process, this.all, deployment?.envVersion ?? 0)) process.leave()
      const isLeft = process.state === 'leaving' && process.isIdle
      if (isLeft || isOverdue(process, use, nowMs)) void this.end(process)
    }
  }

  /** Ends a process, whatever it executes. */
  async end(process: RevisionProcess): Promise<void> {
    if (!this.#all.delete(process)) return
    const ended = process.close().catch((error: unknown) =>
      this.#parts.env.log.warn('A graph process did not end well.', { error })
    )
    this.#ending.add(ended)
    await ended
    this.#ending.delete(ended)
    this.#parts.changed()
  }

  async close(): Promise<void> {
    this.#closed = true
    const loading = [...this.#all.values()]
    await Promise.all(this.all.map((process) => this.end(process)))
    await Promise.allSettled([...loading, ...this.#ending])
  }

  #lease(process: RevisionProcess, work: ProcessWork): ProcessLease {
    return process.lease(work, () => {
      this.settle()
      this.#parts.changed()
    })
  }

  /** Late, never wrong: what cannot be loaded with newer secrets goes on with those before. */
  #usable({ envVersion }: Deployment): RevisionProcess | undefined {
    const ready = this.all.filter(({ isReady }) => isReady)
    const newest = choose(ready, envVersion)
    if (newest) return newest
    const [older] = ready
    if (!older || this.#brokenWith !== envVersion) return undefined
    const isDue = this.#parts.env.monotonicMs() >= this.#retryAtMs
    if (isDue && !this.#loading(envVersion)) this.#start(envVersion).catch(() => {})
    return older
  }

  #loading(envVersion: number): RevisionProcess | undefined {
    return choose(this.all.filter(({ state }) => state === 'loading'), envVersion)
  }

  #start(envVersion: number, startMs?: number): Promise<void> {
    const process = new RevisionProcess(envVersion, this.#parts.env, startMs)
    this.#parts.started()
    const loading = this.#load(process)
    // Whoever started it may not wait for it.
    loading.catch(() => {})
    this.#all.set(process, loading)
    this.#parts.changed()
    return loading
  }

  async #load(process: RevisionProcess): Promise<void> {
    try {
      const loaded = await this.#parts.load(process, (reason) => this.#died(process, reason))
      if (!process.ready(loaded)) {
        await loaded.graph.close()
        loaded.release()
        process.signal.throwIfAborted()
        throw new HeddleError('unavailable', 'The graph process has ended.')
      }
      this.#brokenWith = null
    } catch (error) {
      const isEnded = !this.#all.delete(process)
      process.broke()
      if (!isEnded) this.#broke(process, HeddleError.from(error))
      throw error
    }
    this.settle()
    this.#parts.changed()
  }

  #broke({ envVersion }: RevisionProcess, error: HeddleError): void {
    this.#brokenWith = envVersion
    this.#wait(++this.#failures)
    this.#parts.broke(error)
    this.#parts.changed()
  }

  #died(process: RevisionProcess, reason: string): void {
    // What dies while it is loaded has not been loaded.
    if (!this.#all.has(process) || process.state === 'loading') return process.died()
    this.#all.delete(process)
    this.#failures = process.ageMs > livedMs ? 1 : this.#failures + 1
    process.died()
    this.#deaths++
    // The first one is replaced at once, as most die of a single run.
    if (this.#failures > 1) this.#wait(this.#failures - 1)
    this.#parts.died(reason)
    this.#parts.changed()
  }

  #wait(failures: number): void {
    const { env } = this.#parts
    this.#retryAtMs = env.monotonicMs() + backoffMs(pauses, failures, env.random())
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.env.after(ms, resolve))
  }
}
