/** One child process with a graph host, as the server sees it: its start, its life and its end. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { HostStats } from '../pool/host.ts'
import { eachLine } from '../pool/printed-lines.ts'
import { residentBytes } from '../pool/worker-heap.ts'
import type { TakePrinted } from '../pool/printed-lines.ts'
import type { DeathCause } from './loss.ts'
import { asUser } from '../process-user.ts'
import { startChild } from '../start-child.ts'
import { behindWall } from './network-wall.ts'
import type { NetworkWall } from './network-wall.ts'
import { isProcessMail } from './process-mail-check.ts'
import type { FromProcess, ProcessStart, ToProcess } from './process-mail.ts'
import { Wire } from '../wire.ts'

/** Start of a child process: its arguments, its environment and its bounds. */
export interface ChildStart {
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  readonly user: number | undefined
  /** The namespace that it starts in; undefined for the network of this process. */
  readonly networkWall: NetworkWall | undefined
  readonly memoryMb: number
  /** Time that loading may take. */
  readonly startMs: number
  readonly start: ProcessStart
}

/** Events of a child process. */
export interface ChildEvents {
  mail(mail: FromProcess): void
  printed: TakePrinted
  /** Called once when it has ended, unless it was closed. */
  died(cause: DeathCause, reason: string): void
}

/** First report of a process: it has loaded its project. */
export type Loaded = FromProcess & { readonly type: 'ready' }

const notStarted = 'The process of the graphs could not start.'
const lookMs = 1_000
/** Silence after which a process counts as stuck. It sends a message each second. */
const silentMs = 30_000
const mib = 1024 * 1024
/** Text that V8 prints before it ends a process that has no memory left. */
const outOfMemory = 'JavaScript heap out of memory'
const noStats: HostStats = { starting: 1, ready: 0, busy: 0, underWay: 0, waiting: 0, lost: 0 }

/** A child process. Belongs to a graph process, which is one or several of them. */
export class GraphChild {
  readonly #env: Env
  readonly #options: ChildStart
  readonly #events: ChildEvents
  readonly #process: ChildProcess
  readonly #wire: Wire<ToProcess, unknown>
  readonly #loaded = Promise.withResolvers<Loaded>()
  readonly #gone = Promise.withResolvers<void>()
  readonly #stopLooking: () => void
  #stopDeadline = () => {}
  #lastSeenMs: number
  #lastLookMs: number
  #residentBytes = 0
  #loading: string | null = null
  #isLoaded = false
  /** Mail that waits until it has loaded its project. */
  readonly #early: ToProcess[] = []
  #isClosed = false
  /** True if V8 printed that memory ran out. User code may have printed the same. */
  #hadNoMemory = false
  /** Why it was ended by us; undefined if it was not. */
  #verdict: { readonly cause: DeathCause; readonly reason: string } | undefined
  /** The last report of its host. */
  stats = noStats

  constructor(env: Env, options: ChildStart, events: ChildEvents) {
    this.#env = env
    this.#options = options
    this.#events = events
    this.#lastSeenMs = this.#lastLookMs = env.monotonicMs()
    this.#process = spawnChild(options)
    this.#wire = new Wire(this.#process.stdio[3] as Socket, {
      mail: (mail) => this.#receive(mail),
      broken: ({ message }) => this.#kill('broken', `It sent what cannot be read: ${message}.`),
    })
    this.#watchOutput()
    this.#process.on('error', ({ message }) => {
      this.#verdict ??= { cause: 'ended', reason: `It cannot be started: ${message}.` }
      if (this.#process.pid === undefined) this.#ended(null, null)
    })
    this.#process.on('close', (code, signal) => this.#ended(code, signal))
    this.#stopLooking = env.every(lookMs, () => this.#look())
    this.#stopDeadline = env.after(options.startMs, () => this.#tooLate())
    this.#loaded.promise.catch(() => {})
    preferredByTheKernel(this.pid)
    this.#wire.send({ type: 'start', start: options.start })
  }

  /** 0 if it could not be started. */
  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Bytes of memory at the last look. */
  get memoryBytes(): number {
    return this.#residentBytes
  }

  /**
   * Resolves when it has loaded its project. Rejects with `graph_failed` if the code cannot be
   * loaded, and with `unavailable` if the process ended before.
   */
  get loaded(): Promise<Loaded> {
    return this.#loaded.promise
  }

  /** Resolves when it has ended. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** True if it has loaded its project. No execution starts before. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Sends a message, once it has loaded its project. */
  send(mail: ToProcess): void {
    if (this.#isLoaded) this.#wire.send(mail)
    else this.#early.push(mail)
  }

  /** Sends a message together with the next one, for messages whose arrival may be late. */
  sendAlong(mail: ToProcess): void {
    this.#wire.sendAlong(mail)
  }

  /** Resolves when the process has taken most of what was sent. */
  drained(): Promise<void> {
    return this.#wire.drained()
  }

  /** Ends it. That is reported as if it had ended by itself. */
  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Ends it, whatever runs in it. Resolves when it has ended. Nothing is reported any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#process.kill('SIGKILL')
    await this.#gone.promise
  }

  #receive(mail: unknown): void {
    if (this.#isClosed || this.#verdict) return
    if (!isProcessMail(mail)) return this.#kill('broken', 'It sent what is no message.')
    this.#lastSeenMs = this.#env.monotonicMs()
    switch (mail.type) {
      case 'loading':
        this.#loading = mail.graphId
        return
      case 'refused':
        return this.#loaded.reject(
          new HeddleError(mail.isTransient ? 'unavailable' : 'graph_failed', mail.reason),
        )
      case 'ready':
        this.#stopDeadline()
        this.#isLoaded = true
        for (const early of this.#early.splice(0)) this.#wire.send(early)
        return this.#loaded.resolve(mail)
      case 'beat':
        this.stats = mail.stats
        this.#residentBytes = residentBytes(this.pid) ?? mail.residentBytes
        return
      case 'printed':
        return this.#events.printed(mail.line, mail.level)
      default:
        return this.#events.mail(mail)
    }
  }

  /** Looks at its memory and for how long it was silent. */
  #look(): void {
    const nowMs = this.#env.monotonicMs()
    // If the server itself was blocked, it could not receive messages.
    if (nowMs - this.#lastLookMs > 2 * lookMs) this.#lastSeenMs = nowMs
    this.#lastLookMs = nowMs
    this.#residentBytes = residentBytes(this.pid) ?? this.#residentBytes
    const { memoryMb } = this.#options
    if (this.#residentBytes > memoryMb * mib) {
      this.#kill('memory', `It used more than ${memoryMb} MiB of memory${this.#whileLoading}.`)
    } else if (this.#isLoaded && nowMs - this.#lastSeenMs > silentMs) {
      this.#kill('silent', `It did not answer for ${silentMs / 1_000} seconds.`)
    }
  }

  #tooLate(): void {
    const seconds = this.#options.startMs / 1_000
    this.#kill('silent', `It did not load within ${seconds} seconds${this.#whileLoading}.`)
  }

  get #whileLoading(): string {
    return this.#loading === null
      ? ''
      : ` while it imported the file of graph "${this.#loading}"`
  }

  #kill(cause: DeathCause, reason: string): void {
    this.#verdict ??= { cause, reason }
    this.#process.kill('SIGKILL')
  }

  #watchOutput(): void {
    const { stdout, stderr } = this.#process
    eachLine(stdout!, (line) => this.#events.printed(line, 'info'))
    eachLine(stderr!, (line) => {
      if (line.includes(outOfMemory)) this.#hadNoMemory = true
      this.#events.printed(line, 'warn')
    })
  }

  #verdictOn(end: string): { readonly cause: DeathCause; readonly reason: string } {
    return this.#hadNoMemory
      ? { cause: 'memory', reason: `It had no memory left${this.#whileLoading}.` }
      : { cause: 'ended', reason: `It ended by itself with ${end}${this.#whileLoading}.` }
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#stopLooking()
    this.#stopDeadline()
    this.#wire.close()
    this.#gone.resolve()
    const { cause, reason } = this.#verdict ?? this.#verdictOn(signal ?? `code ${code}`)
    // The code reports its own failures, so the machine or an operator ended the process.
    this.#loaded.reject(new HeddleError('unavailable', `${notStarted} ${reason}`))
    if (!this.#isClosed) this.#events.died(cause, reason)
  }
}

function spawnChild(
  { flags, folder, environment, user, networkWall: wall }: ChildStart,
): ChildProcess {
  const entry = fileURLToPath(new URL('./process-entry.ts', import.meta.url))
  const node = { program: process.execPath, args: [...flags, entry] }
  const { program, args } = wall ? behindWall(wall, node, user) : node
  return startChild(() =>
    spawn(program, args, {
      cwd: folder,
      env: environment,
      // Behind the wall, the user is changed once it is up.
      ...asUser(wall ? undefined : user),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
  )
}

/** Makes the kernel end this process before the server where memory runs out. */
function preferredByTheKernel(pid: number): void {
  // Only Linux has this file.
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => {})
}
