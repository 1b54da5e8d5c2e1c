/** The main thread's end of one graph worker. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { workerProcess } from './process-worker.ts'
import { workerThread } from './carrier.ts'
import type { Carrier, CarrierEvents, WorkerStart } from './carrier.ts'
import { isMachineFault } from '../machine-fault.ts'
import { isFree, LoopLoad } from './turns/loop-load.ts'
import { isWorkerMail } from './mail-check.ts'
import { secretHider } from '../logs/secret-values.ts'
import { eachLine, logPrinted } from './printed-lines.ts'
import type { TakePrinted } from './printed-lines.ts'
import type { ToWorker, WorkerMail } from './worker-mail.ts'

/** Events that a link reports to the pool. */
export interface WorkerEvents {
  mail(link: WorkerLink, mail: WorkerMail): void
  /** The worker has ended, for whatever reason. */
  ended(link: WorkerLink): void
  /** Takes each line that it prints; by default the log does, without secrets. */
  readonly printed?: TakePrinted | undefined
}

/**
 * starting   loads the project
 * ready      takes work
 * ended      the thread has ended
 */
export type WorkerState = 'starting' | 'ready' | 'ended'

/** Tenants that are remembered: more than a worker has traces of. */
const tenantsMax = 10_000

/** Time without a message after which nodes that begin count as no sign of life any more. */
const mutedMs = 60_000

/** Start of a worker, with the generation of its project. */
export interface WorkerOptions extends WorkerStart {
  readonly generation: number
  /** True if the worker gets a process of its own, for a run that may end the process it is in. */
  readonly isApart?: boolean
}

/** One worker as the pool sees it. Belongs to the pool. */
export class WorkerLink {
  readonly name: string
  /** The generation of the project that it serves. Each reload makes a new one. */
  readonly generation: number
  state: WorkerState = 'starting'
  /** True if it records calls of runs. */
  readonly records: boolean
  /** The graph whose file the worker imports now; null for none. */
  loading: string | null = null
  /** Why the worker cannot serve the project, as it reported before its end; null otherwise. */
  refusal: string | null = null
  /** True if it ended by a fault of the machine: another worker may load the project. */
  isTransient = false
  /** True if it is reserved for a single execution, which may keep it silent. */
  quarantined = false
  /** Executions in progress in it. */
  executions = 0
  /** Work that may hold its event loop. */
  readonly load: LoopLoad
  /** The worker that takes its place, if it is silent and has several executions. */
  successor: WorkerLink | undefined
  /** True if an execution was aborted in it, whose code may still run, even for ever. */
  hasAborted = false
  /** True if it ended because its graphs had filled its memory. */
  isFull = false
  /** Exit code of its process or thread; null while it lives. */
  exitCode: number | null = null
  readonly #carrier: Carrier
  /** Tenants whose runs it got; undefined if nothing is traced or recorded. */
  readonly #tenants: LRUCache<string, true> | undefined
  readonly #env: Env
  #lastSeenMs: number
  #lastMailMs: number
  /** The carrier's number of entries when it was seen last. */
  #entries = 0
  #pinged = false
  /** The newest job that it got before the last ping. */
  #jobBeforePing = 0
  #newestJob = 0
  /** True if it was asked to end. */
  #dismissed = false
  #complained = false
  #mails: ToWorker[] = []
  #hasLoaded = false
  readonly startedMs: number

  constructor(env: Env, { generation, isApart = false, ...start }: WorkerOptions,
    events: WorkerEvents) {
    const { name, heapMb } = start
    this.name = name
    this.generation = generation
    this.#env = env
    this.load = new LoopLoad(() => env.monotonicMs())
    this.records = start.project.recording !== undefined
    const writes = this.records || start.tracedRatio !== undefined
    this.#tenants = writes ? new LRUCache({ max: tenantsMax }) : undefined
    this.startedMs = this.#lastSeenMs = this.#lastMailMs = env.monotonicMs()
    const carried: CarrierEvents = {
      mails: (mails) => {
        this.#lastSeenMs = this.#lastMailMs = env.monotonicMs()
        for (const mail of Array.isArray(mails) ? mails : [mails]) this.#handle(mail, events)
      },
      full: () => {
        this.isFull = true
        env.log.warn('Graphs have filled the memory of a worker.', { name, heapMb })
      },
      failed: (error) => {
        this.isTransient ||= isMachineFault(error)
        env.log.error('A graph worker died.', { name, error })
      },
      exited: (code) => {
        if (this.state === 'ended') return
        const isExpected = this.#dismissed || this.refusal !== null || this.isFull
        if (!isExpected) env.log.warn('A graph worker ended by itself.', { name, code })
        this.state = 'ended'
        this.exitCode = code
        events.ended(this)
      },
    }
    this.#carrier = isApart ? workerProcess(env, start, carried) : workerThread(start, carried)
    this.#readConsole(events.printed ?? logPrinted(env.log, name, secretHider(start.variables)))
  }

  /** True if it has loaded the project. No job in it starts before. */
  get hasLoaded(): boolean {
    return this.#hasLoaded
  }

  /** Notes that it has loaded the project, and takes work. */
  loaded(): void {
    this.state = 'ready'
    this.#hasLoaded = true
    if (this.#mails.length > 0) setImmediate(() => this.#flush())
  }

  /**
   * Posts a message, once the project is loaded. Messages of one turn of the event loop are sent
   * together, as waking a thread is expensive.
   */
  post(mail: ToWorker): void {
    if (this.#mails.length === 0 && this.#hasLoaded) setImmediate(() => this.#flush())
    this.#mails.push(mail)
    if (mail.type !== 'execute') return
    this.#newestJob = mail.job
    this.#tenants?.set(mail.execution.tenant, true)
  }

  /** True if it got a run of this tenant, so that it may have traces of it. */
  hasServed(tenant: string): boolean {
    return this.#tenants?.has(tenant) ?? false
  }

  /** Pings the worker, unless a ping is unanswered. */
  ping(): void {
    if (this.#pinged) return
    this.#pinged = true
    this.#jobBeforePing = this.#newestJob
    this.post({ type: 'ping' })
  }

  /** Time since its last message, or since code of a job was entered that was noticed last. */
  get silentMs(): number {
    const nowMs = this.#env.monotonicMs()
    const { entries } = this.#carrier
    if (entries !== this.#entries && nowMs - this.#lastMailMs < mutedMs) this.#lastSeenMs = nowMs
    this.#entries = entries
    return nowMs - this.#lastSeenMs
  }

  /** Forgets the silence until now, because the main thread itself was blocked. */
  excuseSilence(): void {
    this.#lastSeenMs = this.#lastMailMs = this.#env.monotonicMs()
  }

  /** Why a worker that ended by itself could not load its project. */
  get endReason(): string {
    const { loading, isFull, exitCode } = this
    const during = loading === null
      ? 'before it had loaded the project'
      : `while it imported the file of graph "${loading}"`
    if (isFull) return `The graph worker had no memory left ${during}.`
    return `The graph worker ended${exitCode === null ? '' : ` with code ${exitCode}`} ` +
      `${during}; the log says why.`
  }

  /** The job whose code was entered last. */
  get enteredJob(): number {
    return this.#carrier.enteredJob
  }

  /** Stops whatever runs in it. `ended` is called then, unless it has ended before. */
  async terminate(): Promise<void> {
    this.#dismissed = true
    await this.#carrier.terminate()
  }

  /** Handles a message. Never throws, because user code may have posted it. */
  #handle(mail: unknown, events: WorkerEvents): void {
    if (this.state === 'ended') return
    try {
      if (isWorkerMail(mail)) {
        if (mail.type === 'pong') this.#answered(mail.heldMs ?? 0)
        return events.mail(this, mail)
      }
      this.#complain('A graph worker posted what is no message; it is ignored.')
    } catch (error) {
      this.#complain('A message of a graph worker cannot be handled.', error)
    }
  }

  #answered(heldMs: number): void {
    this.#pinged = false
    if (isFree(heldMs)) this.load.free(this.#jobBeforePing)
  }

  /** Logs a complaint, once for each worker, as a graph may cause it without end. */
  #complain(message: string, error?: unknown): void {
    const { name } = this
    const details = { name, ...error !== undefined && { error } }
    if (!this.#complained) this.#env.log.error(message, details)
    this.#complained = true
  }

  #flush(): void {
    const mails = this.#mails
    this.#mails = []
    this.#carrier.post(mails)
  }

  /** Reads what user code prints. */
  #readConsole(printed: TakePrinted): void {
    const outputs = [['info', this.#carrier.stdout], ['warn', this.#carrier.stderr]] as const
    for (const [level, stream] of outputs) eachLine(stream, (line) => printed(line, level))
  }
}
