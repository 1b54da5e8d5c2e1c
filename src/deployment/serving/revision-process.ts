/** A graph process of a revision, from its start to its end. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GraphProcess } from '../../graph/index.ts'
import type { SecretSet } from '../secret-set.ts'
import type { LoadedProcess } from './load-revision.ts'
import type { ProcessUse } from './retention.ts'
import type { LoadState } from './serving.ts'

/** Work in a process, which is not ended before the work is. */
export interface ProcessLease {
  readonly graph: GraphProcess
  readonly hide: LoadedProcess['hide']
  /** Ends the work. Calls after the first do nothing. */
  leave(): void
}

/** Reason for which a revision cannot serve. */
export interface LoadFailure {
  readonly reason: string
  /** True if nothing of it can be executed. */
  readonly isWhole: boolean
}

/** Secrets and bounds with which a process is started. */
export interface ProcessOptions {
  readonly envVersion: number
  readonly secrets: SecretSet | undefined
  /** The deployment's share of runs that are recorded; null for that of langgraph.json. */
  readonly record: string | null
  readonly startMs?: number | undefined
}

/** Use of a process: for executions, or for questions and preparations. */
export type ProcessWork = 'executing' | 'asking'

/** Milliseconds within which waiting work begins on a process that has become ready. */
const awaitedMs = 1_000

/** Counts the work in a graph process. It never decides when the process ends. */
export class RevisionProcess implements ProcessUse {
  /** Number of changes of secrets when it was started. */
  readonly envVersion: number
  /** Milliseconds that loading may take, where its caller waits for less than usual. */
  readonly startMs: number | undefined
  /** Its own secrets; undefined for those that programs before sets know. */
  readonly secrets: SecretSet | undefined
  readonly record: string | null
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #cancel = new AbortController()
  readonly #work = { executing: 0, asking: 0 }
  #state: LoadState = 'loading'
  #loaded: LoadedProcess | undefined
  #readyAtMs = 0
  #wasUsed = false
  #lastUsedMs: number

  constructor({ envVersion, secrets, record, startMs }: ProcessOptions,
    env: Pick<Env, 'monotonicMs'>) {
    this.envVersion = envVersion
    this.secrets = secrets
    this.record = record
    this.startMs = startMs
    this.#env = env
    this.#lastUsedMs = env.monotonicMs()
  }

  get state(): LoadState {
    return this.#state
  }
  get isReady(): boolean {
    return this.#state === 'ready'
  }
  get isIdle(): boolean {
    const isAwaited = !this.#wasUsed && this.ageMs < awaitedMs
    return this.#loaded !== undefined && !isAwaited
      && this.#work.executing + this.#work.asking === 0
  }
  get lastUsedMs(): number {
    return this.#lastUsedMs
  }
  get executing(): number {
    return this.#work.executing
  }
  get memoryBytes(): number | null {
    return this.#loaded?.graph.memoryBytes() ?? null
  }
  /** Undefined before it is loaded, and after its end. */
  get graph(): GraphProcess | undefined {
    return this.#loaded?.graph
  }
  get secretVersions(): string | undefined {
    return this.#loaded?.secretVersions
  }
  /** Reason for which graphs of it cannot be executed; undefined if all can. */
  get failure(): LoadFailure | undefined {
    const graphs = this.#loaded?.graph.graphs() ?? []
    const [first, ...others] = graphs.filter(({ failed }) => failed === true)
    if (first === undefined) return undefined
    const reason = this.#loaded!.hide(first.failure ?? `${first.graphId} cannot be loaded.`)
    return { reason, isWhole: others.length + 1 === graphs.length }
  }
  /** Milliseconds since it was ready. */
  get ageMs(): number {
    return this.#env.monotonicMs() - this.#readyAtMs
  }
  /** Aborts if it is ended while it is loaded. */
  get signal(): AbortSignal {
    return this.#cancel.signal
  }

  /** Notes that it is loaded. False if it died or was ended meanwhile. */
  ready(loaded: LoadedProcess): boolean {
    if (this.#state !== 'loading') return false
    this.#loaded = loaded
    this.#state = 'ready'
    this.#lastUsedMs = this.#readyAtMs = this.#env.monotonicMs()
    return true
  }

  /** Takes no new work from now on. */
  leave(): void {
    if (this.#state === 'ready') this.#state = 'leaving'
  }

  broke(): void {
    this.#state = 'broken'
  }

  /** Begins work in it. `left` is called when the work has ended. */
  lease(kind: ProcessWork, left: () => void): ProcessLease {
    const { graph, hide } = this.#loaded!
    this.#work[kind]++
    this.#wasUsed = true
    let isHeld = true
    return { graph, hide, leave: () => {
      if (!isHeld) return
      isHeld = false
      this.#work[kind]--
      this.#lastUsedMs = this.#env.monotonicMs()
      left()
    } }
  }

  /** Notes that its process has ended by itself. */
  died(): void {
    this.#state = 'absent'
    const loaded = this.#loaded
    this.#loaded = undefined
    loaded?.release()
  }

  /** Ends it, whatever it executes. */
  async close(): Promise<void> {
    if (this.#state !== 'broken') this.#state = 'absent'
    this.#cancel.abort(new HeddleError('unavailable', 'The graph process was ended.'))
    const loaded = this.#loaded
    this.#loaded = undefined
    await loaded?.graph.close()
    loaded?.release()
  }
}
