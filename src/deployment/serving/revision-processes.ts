/** The graph processes of one revision: started when there is work, replaced when they die. */

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import { abortable } from './abortable.ts'
import type { LoadedProcess } from './load-revision.ts'
import { secretsFor } from '../loaded-secrets.ts'
import { chosen, isInVain, matches } from './process-choice.ts'
import type { SecretSet } from '../secret-set.ts'
import { isOverdue, isSuperseded, useOf } from './retention.ts'
import { RevisionProcess } from './revision-process.ts'
import type { LoadFailure, ProcessLease, ProcessOptions, ProcessWork } from './revision-process.ts'

/** Parts of a revision's processes, and the receivers of their reports. */
export interface RevisionProcessesParts {
  readonly revision: string
  readonly env: Env
  /** The deployment as it is known now; undefined if it is gone. */
  readonly deployment: () => Deployment | undefined
  /** Finds the deployment in the store if it is not known. Throws `not_found`. */
  readonly find: () => Promise<Deployment>
  /** Text that is equal for equal secrets, for a process that would start now with such a set. */
  readonly secretVersions: (set: SecretSet | undefined) => Promise<string>
  /** True if the revision was active before, on any member, or if that cannot be read now. */
  readonly hasServed: () => Promise<boolean>
  readonly load: (process: RevisionProcess,
    died: (reason: string) => void) => Promise<LoadedProcess>
  readonly started: () => void
  readonly died: (reason: string) => void
  readonly broke: (error: HeddleError) => void
  /** Called when it was loaded without some of its graphs. */
  readonly lacked: (failure: LoadFailure) => void
  /** Called when a process has begun to load, or has become ready or idle, or has ended. */
  readonly changed: () => void
}

/** Pauses before the next start. They grow while processes die soon after their start. */
const pauses = { firstMs: 100, longestMs: 10_000 }
/** Milliseconds after which the death of a process is not blamed on its start. */
const livedMs = 60_000
/** Failures of the code itself after which a revision that never served is given up. */
const refusalsMax = 2
/** Milliseconds for which a question waits for a machine that cannot load the revision now. */
const askingMs = 30_000
/** Time limits of loads, in milliseconds. Each failed load doubles the limit of the next one. */
const loadMs = { first: 60_000, longest: 480_000 }

/** Request of a roll-out for a process with certain secrets. */
export interface PreparedSecrets extends Pick<ProcessOptions, 'envVersion'> {
  /** The secrets; missing for those that were loaded last. */
  readonly secrets?: SecretSet | undefined
  /** Milliseconds that loading may take, where that is less than usual. */
  readonly withinMs?: number | undefined
}

/** A failure, and since when it lasts: milliseconds since 1970. */
export interface LoadProblem extends LoadFailure {
  readonly sinceMs: number
}

/** Keeps at most one process for each version of the secrets. */
export class RevisionProcesses {
  readonly #parts: RevisionProcessesParts
  readonly #all = new Map<RevisionProcess, Promise<void>>()
  readonly #ending = new Set<Promise<void>>()
  /** Number of times in a row that it could not be loaded, or died soon. */
  #failures = 0
  /** Number of times that its own code failed to load since it was loaded. */
  #refusals = 0
  /** Number of times in a row that the machine ended a load, by its time limit or otherwise. */
  #cutLoads = 0
  #hasLoaded = false
  /** The pause before the next load, for all that waits; undefined if there is none. */
  #pausing: Promise<void> | undefined
  #endPause = () => {}
  #retryAtMs = Number.NEGATIVE_INFINITY
  /** Version of the secrets with which the last load failed; null if it succeeded. */
  #brokenWith: number | null = null
  #problem: LoadProblem | undefined
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
  /** Why it cannot serve new runs; undefined if it can, or if that was not tried. */
  get problem(): LoadProblem | undefined {
    const deployment = this.#parts.deployment()
    const serving = deployment && this.#usable(deployment)
    return serving === undefined || serving.failure !== undefined ? this.#problem : undefined
  }
  get isEnding(): boolean {
    return this.#ending.size > 0
  }
  get deaths(): number {
    return this.#deaths
  }

  /**
   * A process for work, loaded if there is none. Executions wait until the revision is loaded, and
   * get an error only if they would wait in vain. Questions get an error of the code at once, and
   * an error of the machine after 30 seconds. Throws HeddleError, or the reason of the signal: then
   * only the caller stops waiting, and loading goes on.
   */
  async take(work: ProcessWork, signal?: AbortSignal): Promise<ProcessLease> {
    const untilMs = this.#parts.env.monotonicMs() + askingMs
    for (;;) {
      const deployment = await abortable(this.#parts.find(), signal)
      if (this.#closed) throw goingAway()
      if (deployment.removing) throw new HeddleError('not_found', 'The deployment was removed.')
      const process = this.#usable(deployment)
      if (process && !isInVain(process)) return this.#lease(process, work)
      if (process) await this.#requireRetry(process, work)
      const pauseMs = this.#retryAtMs - this.#parts.env.monotonicMs()
      const loading = this.#loading(deployment)
      const coming = loading ? this.#all.get(loading)! : pauseMs > 0
        ? this.#pause(pauseMs)
        : this.#start(this.#optionsOf(deployment))
      await abortable(coming, signal).catch(async (error: unknown) => {
        const isOver = this.#parts.env.monotonicMs() >= untilMs
        if (signal?.aborted || await this.#isFinal(HeddleError.from(error), work, isOver)) {
          throw error
        }
      })
    }
  }

  /** True if the work must not wait for another load. */
  async #isFinal({ code, retry }: HeddleError, work: ProcessWork,
    isOver: boolean): Promise<boolean> {
    if (retry !== 'no') return work === 'asking' && isOver
    if (code !== 'graph_failed' || work === 'asking') return true
    return this.#refusals >= refusalsMax && !this.#hasLoaded && !await this.#parts.hasServed()
  }

  /** Throws the reason if it is known that nothing of it can be executed, after another try. */
  async requireServes(): Promise<void> {
    if (this.problem?.isWhole !== true) return
    if (this.isBroken) throw new HeddleError('graph_failed', this.problem.reason)
    const { leave } = await this.take('asking')
    leave()
  }

  /**
   * A process with these secrets or newer ones, started at once if there is none. Throws
   * HeddleError.
   */
  async prepare({ envVersion, secrets, withinMs }: PreparedSecrets): Promise<
    ProcessLease & { readonly isFresh: boolean }
  > {
    let isFresh = false
    for (;;) {
      const deployment = await this.#parts.find()
      const { record = null } = deployment
      const options = { envVersion, record,
        secrets: secrets ?? secretsFor(deployment, this.revision) }
      // A roll-out of secrets that failed has left processes with those of its time.
      const versions = envVersion > deployment.envVersion
        ? await this.#parts.secretVersions(options.secrets)
        : undefined
      if (this.#closed) throw goingAway()
      const ready = chosen(this.all.filter(({ isReady }) => isReady), options)
      // A graph that failed may load now.
      const isOld = ready?.failure !== undefined && !isFresh
      if (ready && !isOld && (versions ?? ready.secretVersions) === ready.secretVersions) {
        return { ...this.#lease(ready, 'asking'), isFresh }
      }
      ready?.leave()
      this.#leaveCandidates(deployment, options)
      const loading = chosen(this.all.filter(({ state }) => state === 'loading'), options)
      isFresh = loading === undefined
      await (loading ? this.#all.get(loading) : this.#start({ ...options, startMs: withinMs }))
    }
  }

  /** Ends processes that are not kept any more. Call from time to time, and after any change. */
  settle(): void {
    const deployment = this.#parts.deployment()
    const use = useOf(deployment, this.#parts.revision)
    const nowMs = this.#parts.env.monotonicMs()
    const { envVersion = 0, record = null } = deployment ?? {}
    const others = this.all.filter((process) => process.isReady && process.record !== record)
    if (deployment && use === 'pointer' && others.length > 0 && !this.#closed) {
      // The next run is to find a process that records as the deployment wants.
      this.#usable(deployment)
    } else for (const process of others) process.leave()
    for (const process of this.all) {
      if (isSuperseded(process, this.all, { envVersion, record })) process.leave()
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
    this.#endPause()
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

  /** A process with the newest secrets. If these cannot be loaded, one with the secrets before. */
  #usable(deployment: Deployment): RevisionProcess | undefined {
    const { envVersion } = deployment
    const options = this.#optionsOf(deployment)
    const ready = this.all.filter(({ isReady }) => isReady)
    const newest = chosen(ready, options)
    if (newest) return newest
    // Recording slows no run: the one before goes on until another one is loaded.
    const other = ready.find((process) => matches(process, { ...options, record: process.record }))
    // Others were loaded with secrets that did not count in the end.
    const older = other ?? ready.find((process) => process.envVersion < envVersion)
    if (!older || (older !== other && this.#brokenWith !== envVersion)) return undefined
    const isDue = this.#parts.env.monotonicMs() >= this.#retryAtMs
    if (isDue && !this.#loading(deployment)) this.#start(options).catch(() => {})
    return older
  }

  #optionsOf(deployment: Deployment): ProcessOptions {
    const { envVersion, record = null } = deployment
    return { envVersion, record, secrets: secretsFor(deployment, this.revision) }
  }

  #loading(deployment: Deployment): RevisionProcess | undefined {
    return chosen(this.all.filter(({ state }) => state === 'loading'), this.#optionsOf(deployment))
  }

  /** Ends processes with secrets of a roll-out that failed. */
  #leaveCandidates({ envVersion }: Deployment, options: ProcessOptions): void {
    for (const process of this.all) {
      const isTried = process.envVersion > envVersion && process.secrets !== undefined
      if (isTried && !matches(process, options)) process.leave()
    }
    this.settle()
  }

  #start(options: ProcessOptions): Promise<void> {
    const { first, longest } = loadMs
    const startMs = Math.min(options.startMs ?? longest, first * 2 ** this.#cutLoads, longest)
    const process = new RevisionProcess({ ...options, startMs }, this.#parts.env)
    this.#parts.started()
    const loading = this.#load(process)
    // The caller may not wait for it, so a rejection must not count as unhandled.
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
      this.#noteLoaded(process)
    } catch (error) {
      const isEnded = !this.#all.delete(process)
      process.broke()
      if (!isEnded) this.#broke(process, HeddleError.from(error))
      throw error
    }
    this.settle()
    this.#parts.changed()
  }

  /** Notes the result of a load. One without any usable graph is tried again after a pause. */
  #noteLoaded(process: RevisionProcess): void {
    const { failure, envVersion } = process
    if (failure !== undefined) this.#parts.lacked(failure)
    this.#cutLoads = 0
    if (this.#isTried(process)) return
    this.#noteProblem(failure)
    this.#brokenWith = isInVain(process) ? envVersion : null
    if (isInVain(process)) {
      this.#refusals++
      return this.#wait(++this.#failures)
    }
    this.#refusals = 0
    this.#hasLoaded = true
    this.#endPause()
  }

  /**
   * Lets a process without usable graphs make way for the next try when that is due. Throws its
   * failure if the work must not wait for that.
   */
  async #requireRetry(process: RevisionProcess, work: ProcessWork): Promise<void> {
    if (this.isBroken) {
      const error = new HeddleError('graph_failed', process.failure?.reason)
      if (await this.#isFinal(error, work, false)) throw error
    } else {
      process.leave()
      this.settle()
    }
  }

  #noteProblem(failure: LoadFailure | undefined): void {
    const sinceMs = this.#problem?.sinceMs ?? this.#parts.env.nowMs()
    this.#problem = failure && { ...failure, sinceMs }
  }

  /**
   * True if the secrets of the process are only tried by a roll-out: its failures are not the
   * deployment's.
   */
  #isTried({ envVersion }: RevisionProcess): boolean {
    return envVersion > (this.#parts.deployment()?.envVersion ?? envVersion)
  }

  #broke(process: RevisionProcess, error: HeddleError): void {
    this.#parts.broke(error)
    this.#cutLoads = error.retry === 'no' ? 0 : this.#cutLoads + 1
    if (!this.#isTried(process)) {
      if (error.code === 'graph_failed') this.#refusals++
      this.#brokenWith = process.envVersion
      this.#wait(++this.#failures)
      this.#noteProblem({ reason: error.message, isWhole: error.retry === 'no' })
    }
    this.#parts.changed()
  }

  #died(process: RevisionProcess, reason: string): void {
    // A process that dies during its load counts as a failed load.
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

  /** Resolves after the pause, or when a process has loaded the revision before its end. */
  #pause(ms: number): Promise<void> {
    return this.#pausing ??= new Promise((resolve) => {
      const stop = this.#parts.env.after(ms, () => this.#endPause())
      this.#endPause = () => {
        stop()
        this.#pausing = undefined
        resolve()
      }
    })
  }
}
