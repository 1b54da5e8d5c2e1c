/** The graph workers of a process: starts, replaces, listens to and ends them. */

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GraphDescription } from '../execution.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import type { ExecutionMark } from './execution-marks.ts'
import type { PoolEvents, PoolOptions } from './pool-options.ts'
import { ProjectGenerations } from './project-generations.ts'
import type { Opened } from './project-generations.ts'
import { StartPauses } from './turns/start-pauses.ts'
import { silentAfterMs } from './turns/worker-choice.ts'
import { WorkerLink } from './worker-link.ts'
import type { ToWorker, WorkerMail } from './worker-mail.ts'

const tickMs = 500
/** Silence after which a worker counts as stuck. With a tick, others on it wait 5 s at most. */
const stuckAfterMs = 4500
/** Workers beyond the pool's size that may be reserved for one execution each. */
const quarantinedMax = 8
/** Delays of replacements. They grow while workers die soon after their start. */
const pauses = { firstMs: 100, longestMs: 10_000 }
/** A worker that lived this long did not die of its start. */
const livedMs = 60_000
/** Time after which a warning names the file that the loading of a project waits for. */
const slowLoadMs = 10_000
/** Time for which workers of an earlier project may continue their executions. */
const outgoingMs = 30_000

/** Keeps the wanted number of workers. Belongs to the graph host. */
export class WorkerPool {
  readonly #env: Env
  readonly #events: PoolEvents
  readonly #options: PoolOptions
  readonly #projects: ProjectGenerations
  #names = 0
  #deaths = 0
  #lost = 0
  #closed = false
  /** The project's library cannot trace. */
  #isUntraced = false
  readonly #links = new Set<WorkerLink>()
  /** Retired workers that hand over their traces. */
  readonly #leaving = new Set<WorkerLink>()
  readonly #marks = new Map<WorkerLink, ExecutionMark>()
  /** The message with the URL at which this server answers clients, once that is known. */
  #address: ToWorker | undefined
  readonly #timers = new Set<() => void>()
  /** Pauses after quarantined workers that could not start. */
  readonly #apartPauses: StartPauses
  #lastTickMs: number
  /** The newest generation for which slow loading was logged. */
  #warnedOf = 0

  constructor(env: Env, options: PoolOptions, events: PoolEvents) {
    this.#env = env
    this.#events = events
    this.#options = options
    this.#projects = new ProjectGenerations(options.project)
    this.#lastTickMs = env.monotonicMs()
    this.#apartPauses = new StartPauses({ range: pauses, random: () => env.random(),
      after: (ms, fn) => this.#after(ms, fn), resumed: () => events.ready() })
    this.#timers.add(env.every(tickMs, () => this.#tick()))
  }

  /** Resolves when one worker has loaded the project, or when it has changed before that. */
  open(): Promise<Opened> {
    const opened = this.#projects.open()
    for (let i = 0; i < this.#options.workers; i++) this.#start(this.#projects.newest)
    return opened
  }

  /**
   * Loads a new project. It gets all new work as soon as one worker has loaded it. Workers of the
   * project before end when they are idle, or after a while.
   */
  reload(project: CompiledProject): Promise<Opened> {
    this.#projects.add(project)
    return this.open()
  }

  /** The project that is served, or the first that will be. */
  get project(): CompiledProject {
    return this.#projects.project(this.#projects.current)
  }

  get graphs(): readonly GraphDescription[] {
    return this.#projects.graphs
  }

  /** Workers that take any work, the oldest first. */
  get members(): WorkerLink[] {
    return [...this.#links].filter((link) =>
      link.state === 'ready' && !link.quarantined
      && link.generation === this.#projects.serving
    )
  }

  get everyone(): Iterable<WorkerLink> {
    return this.#links
  }

  /** Workers, and retired ones, that are not silent. */
  get responding(): WorkerLink[] {
    return [...this.#links, ...this.#leaving].filter(({ silentMs }) => silentMs < silentAfterMs)
  }

  /** The share of runs whose steps are traced. */
  get tracedRatio(): number {
    return this.#isUntraced ? 0 : this.#options.tracedRatio ?? 0
  }

  /** True if workers hold traces or recorded calls for a while before they send them. */
  get writesTraces(): boolean {
    return [...this.#links].some(this.#writes)
  }

  /** Workers that died, or were ended because they were stuck. */
  get lost(): number {
    return this.#lost
  }

  /**
   * A worker for one execution, in a process of its own if it is to be apart. Undefined if there
   * are too many of those already, and during the pause after a failed start: `ready` is called
   * after the pause.
   */
  startQuarantined(isApart = false): WorkerLink | undefined {
    if (this.#quarantined >= quarantinedMax || this.#apartPauses.isPaused) return undefined
    const link = this.#tryStart(this.#projects.current, isApart)
    if (link) link.quarantined = true
    else this.#apartPauses.failed()
    return link
  }

  /** Reserves a worker for what it does and starts another in its place. False at the limit. */
  leaveAlone(link: WorkerLink): boolean {
    if (this.#quarantined >= quarantinedMax) return false
    link.quarantined = true
    this.#events.withdrawn(link)
    this.#refill()
    return true
  }

  /**
   * Ends a worker and whatever runs in it, after it has handed over its traces if it responds. If
   * it was one of the members, starts another.
   */
  retire(link: WorkerLink): void {
    if (!this.#links.delete(link)) return
    const isSilent = link.silentMs >= silentAfterMs
    if (link.state === 'ready' && isSilent) this.#lost++
    this.#events.ended(link)
    void this.#end(link, link.state === 'ready' && !isSilent && this.#writes(link))
    this.#refill()
  }

  async #end(link: WorkerLink, handsOver: boolean): Promise<void> {
    this.#leaving.add(link)
    if (handsOver) await this.#events.handOver(link)
    this.#leaving.delete(link)
    await link.terminate()
  }

  #writes = ({ records }: WorkerLink) => records || this.tracedRatio > 0

  /** Posts the URL to every worker, also to those that start later. */
  servedAt(url: string | undefined): void {
    this.#address = { type: 'served', url }
    for (const link of this.#links) link.post(this.#address)
  }

  has(link: WorkerLink): boolean {
    return this.#links.has(link)
  }

  /** Ends an idle worker if it is quarantined, of an earlier project, or one too many. */
  spare(link: WorkerLink): void {
    const { generation } = link
    const isTooMany = this.#links.size > this.#options.workers
      && this.#membersOf(generation).length > this.#options.workers
    if (link.quarantined || generation < this.#projects.serving || isTooMany) this.retire(link)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stop of this.#timers) stop()
    const links = [...this.#links, ...this.#leaving]
    this.#links.clear()
    await Promise.all(links.map((link) => link.terminate()))
  }

  get #quarantined(): number {
    return [...this.#links].filter(({ quarantined }) => quarantined).length
  }

  #start(generation: number, isApart = false): WorkerLink {
    const { heapMb, variables, marks, tracedRatio, printed } = this.#options
    // A run in a process of its own cannot end this process, so it needs no mark.
    const mark = isApart ? undefined : marks?.take()
    const options = { name: `graph-${++this.#names}`, generation, heapMb, variables, isApart,
      project: this.#projects.project(generation), ...mark && { mark },
      ...tracedRatio !== undefined && { tracedRatio }, ...printed && { isInProcess: true } }
    const link: WorkerLink = new WorkerLink(this.#env, options, {
      mail: (from, mail) => this.#mail(from, mail),
      ended: (gone) => this.#ended(gone),
      printed,
    })
    this.#links.add(link)
    if (mark) this.#marks.set(link, mark)
    if (this.#address) link.post(this.#address)
    return link
  }

  /** Undefined if the machine has no room for another worker now. */
  #tryStart(generation: number, isApart = false): WorkerLink | undefined {
    try {
      return this.#start(generation, isApart)
    } catch (error) {
      this.#env.log.warn('A graph worker cannot be started now.', { error })
      return undefined
    }
  }

  /** Starts missing members, also of the serving project while the next one is loading. */
  #refill(): void {
    if (this.#closed) return
    const { current, newest } = this.#projects
    for (const generation of new Set([current, newest])) {
      const missing = this.#options.workers - this.#membersOf(generation).length
      for (let started = 0; started < missing; started++) {
        if (!this.#tryStart(generation)) return this.#refillLater(++this.#deaths)
      }
    }
  }

  #refillLater(failures: number): void {
    this.#after(backoffMs(pauses, failures, this.#env.random()), () => this.#refill())
  }

  /** Workers of a project that are not reserved, and in whose place no other was started. */
  #membersOf(of: number): WorkerLink[] {
    return [...this.#links].filter(({ quarantined, successor, generation }) =>
      !quarantined && !successor && generation === of
    )
  }

  #mail(link: WorkerLink, mail: WorkerMail): void {
    switch (mail.type) {
      case 'pong':
        return this.#events.ready()
      case 'loading':
      case 'refused':
      case 'ready':
        // A worker that is ready said all of this before. Now only user code can have posted it.
        if (link.state === 'starting') this.#starting(link, mail)
        return
      default:
        return this.#events.mail(link, mail)
    }
  }

  #starting(link: WorkerLink, mail: WorkerMail & { type: 'loading' | 'refused' | 'ready' }): void {
    if (mail.type === 'loading') {
      link.loading = mail.graphId
      this.#options.loading?.(mail.graphId)
    } else if (mail.type === 'refused') {
      link.refusal = mail.reason
      link.isTransient = mail.isTransient
    } else this.#ready(link, mail)
  }

  #ready(link: WorkerLink, mail: WorkerMail & { type: 'ready' }): void {
    const { graphs, failures, unknown, engine, untraced, unwatched } = mail
    link.loaded()
    if (link.quarantined) this.#apartPauses.succeeded()
    if (this.#projects.loaded(link.generation, graphs)) {
      for (const { graphId, message } of failures) {
        this.#env.log.error('A graph cannot be used.', { graphId, reason: message })
      }
      this.#isUntraced = untraced !== undefined
      if (untraced !== undefined) {
        this.#env.log.warn('The steps of runs are not traced, only the runs: the project cannot.', {
          reason: untraced,
        })
      }
      if (unwatched !== undefined) {
        this.#env.log.warn('The calls of runs are neither recorded nor kept from happening twice.',
          { reason: unwatched })
      }
      if (unknown.length > 0) {
        this.#env.log.warn("This server does not know the project's version of LangGraph.js: " +
          'graphs run as usual, but slower.', { without: unknown, ...engine })
      }
      this.#dismissOutgoing()
    }
    this.#projects.announce(link.generation)
    for (const other of [...this.#links]) {
      if (other.successor === link && other.silentMs >= stuckAfterMs) this.#stuck(other)
    }
    this.#events.ready()
  }

  #dismissOutgoing(): void {
    const { serving } = this.#projects
    const outgoing = [...this.#links].filter(({ generation }) => generation < serving)
    for (const link of outgoing) if (link.executions === 0) this.retire(link)
    if (outgoing.length === 0) return
    this.#after(outgoingMs, () => {
      for (const link of outgoing) {
        if (!link.quarantined && this.has(link)) this.#events.outdated(link)
      }
    })
  }

  /** Handles a worker that ended without being retired. */
  #ended(link: WorkerLink): void {
    this.#freeMark(link)
    if (!this.#links.delete(link)) return
    this.#lost++
    if (link.quarantined && !link.hasLoaded) this.#apartPauses.failed()
    this.#events.ended(link)
    const { current, newest, serving } = this.#projects
    const isWanted = link.generation === current || link.generation === newest
    if (this.#closed || link.quarantined || !isWanted) return
    if (link.generation > serving) {
      const code = link.isFull || link.isTransient ? 'unavailable' : 'graph_failed'
      this.#projects.failed(new HeddleError(code, link.refusal ?? link.endReason))
      if (serving === 0) return
    } else if (link.refusal !== null) {
      this.#env.log.error('A graph worker cannot be replaced.', { reason: link.refusal })
    }
    const ageMs = this.#env.monotonicMs() - link.startedMs
    this.#deaths = ageMs > livedMs ? 1 : this.#deaths + 1
    if (this.#deaths === 1) return this.#refill()
    this.#refillLater(this.#deaths - 1)
  }

  #freeMark(link: WorkerLink): void {
    const mark = this.#marks.get(link)
    if (!mark || this.#closed) return
    this.#marks.delete(link)
    this.#options.marks?.free(mark)
  }

  #after(ms: number, fn: () => void): void {
    const stop = this.#env.after(ms, () => {
      this.#timers.delete(stop)
      fn()
    })
    this.#timers.add(stop)
  }

  #tick(): void {
    const nowMs = this.#env.monotonicMs()
    // If the main thread itself was blocked, it could not receive messages.
    const stalled = nowMs - this.#lastTickMs > 2 * tickMs
    this.#lastTickMs = nowMs
    for (const link of [...this.#links]) {
      if (link.state === 'starting') this.#warnOfSlow(link)
      if (link.state !== 'ready') continue
      if (stalled) link.excuseSilence()
      if (!link.quarantined && link.silentMs >= stuckAfterMs) this.#stuck(link)
      else {
        if (link.successor) this.#keep(link)
        link.ping()
      }
    }
  }

  /**
   * Of several executions, those that only wait lose nothing before another worker has loaded the
   * project. Until then the one that holds the loop may yet end.
   */
  #stuck(link: WorkerLink): void {
    const isAlone = link.executions <= 1
    if (isAlone || link.generation < this.#projects.serving) return this.#events.stuck(link)
    link.successor ??= this.#tryStart(link.generation)
    if (link.successor && link.successor.state !== 'starting') this.#events.stuck(link)
  }

  /** The worker answers again, so that there is one too many. */
  #keep(link: WorkerLink): void {
    const { successor } = link
    link.successor = undefined
    if (successor && successor.executions === 0) this.retire(successor)
  }

  /** Warns once for each project. Otherwise nothing would show what its start waits for. */
  #warnOfSlow({ generation, loading: graphId, startedMs }: WorkerLink): void {
    const ms = this.#env.monotonicMs() - startedMs
    if (graphId === null || ms < slowLoadMs || generation <= this.#warnedOf) return
    this.#warnedOf = generation
    this.#env.log.warn('The file of a graph takes long to import; the project waits for it.', {
      graphId,
      ms,
    })
  }
}
