/** The graph processes of one revision: started when there is work, replaced when they die. */

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import { abortable } from './abortable.ts'
import type { LoadedProcess } from './load-revision.ts'
import { secretsFor } from '../loaded-secrets.ts'
import { secretsKey } from '../secret-set.ts'
import type { SecretSet } from '../secret-set.ts'
import { choose, isOverdue, isSuperseded, useOf } from './retention.ts'
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
   * A process for work, loaded if there is none. Throws HeddleError, or the reason of the signal:
   * then only the caller stops waiting, and loading goes on.
   */
  async take(work: ProcessWork, signal?: AbortSignal): Promise<ProcessLease> {
    for (;;) {
      const deployment = await abortable(this.#parts.find(), signal)
      if (this.#closed) throw goingAway()
      if (deployment.removing) throw new HeddleError('not_found', 'The deployment was removed.')
      const process = this.#usable(deployment)
      if (process && !this.#isInVain(process)) return this.#lease(process, work)
      const pauseMs = this.#retryAtMs - this.#parts.env.monotonicMs()
      const loading = this.#loading(deployment)
      const coming = loading ? this.#all.get(loading)! : pauseMs > 0
        ? this.#pause(pauseMs)
        : this.#start(this.#optionsOf(deployment))
      await abortable(coming, signal)
    }
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
    const process = new RevisionProcess(options, this.#parts.env)
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
    if (this.#isTried(process)) return
    this.#noteProblem(failure)
    this.#brokenWith = failure?.isWhole === true ? envVersion : null
    if (failure?.isWhole === true) this.#wait(++this.#failures)
  }

  /**
   * True for a process without usable graphs, which makes way for the next try. Throws its failure
   * while that try is not due.
   */
  #isInVain(process: RevisionProcess): boolean {
    const { failure } = process
    if (failure?.isWhole !== true) return false
    if (this.isBroken) throw new HeddleError('graph_failed', failure.reason)
    process.leave()
    this.settle()
    return true
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
    if (!this.#isTried(process)) {
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

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.env.after(ms, resolve))
  }
}

/** The process that has the secrets. Without sets, the oldest of those that are new enough. */
function chosen(processes: readonly RevisionProcess[], options: ProcessOptions):
  | RevisionProcess
  | undefined {
  return choose(processes.filter((process) => matches(process, options)), Number.NEGATIVE_INFINITY)
}

function matches({ envVersion, secrets, record }: RevisionProcess,
  options: ProcessOptions): boolean {
  if (record !== options.record) return false
  return secrets === undefined || options.secrets === undefined
    ? envVersion >= options.envVersion
    : secretsKey(secrets) === secretsKey(options.secrets)
}
