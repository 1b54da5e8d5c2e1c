/** The app thread of a project as its owner sees it: started, watched and replaced. */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { secretHider } from '../logs/secret-values.ts'
import { isMachineFault } from '../machine-fault.ts'
import { eachLine, logPrinted } from '../pool/printed-lines.ts'
import type { TakePrinted } from '../pool/printed-lines.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { isAppMail } from './app-mail.ts'
import type { AppPlace, AppThreadData, FromAppThread, ToAppThread } from './app-mail.ts'

/** Start of an app thread, and its bounds. */
export interface SupervisedAppOptions {
  readonly project: CompiledProject
  /** MiB that its code may fill. */
  readonly heapMb: number
  /** The environment of its code. */
  readonly variables: NodeJS.ProcessEnv
  /** Silence after which the thread counts as stuck, and is replaced. */
  readonly hangMs: number
  /** Time that loading may take, in milliseconds. Default: 60 000. */
  readonly startMs?: number | undefined
  /** Takes each line that it prints; by default the log does, without secrets. */
  readonly printed?: TakePrinted | undefined
  /** Called when it answers at another place, and with undefined when it answers nowhere. */
  readonly moved: (place: AppPlace | undefined) => void
}

/** Time that an answer of a login may take, and silence of its thread; 10 s by default. */
export const defaultAppTimeoutMs = 10_000

const lookMs = 500
/** Default time that loading may take. */
const loadMs = 60_000
/** Delays of replacements. They grow while threads die soon after their start. */
const pauses = { firstMs: 100, longestMs: 10_000 }
/** A thread that lived this long did not die of its start. */
const livedMs = 60_000
const youngGenerationMb = 48

interface Thread {
  readonly worker: Worker
  readonly port: MessagePort
  readonly startedMs: number
  lastSeenMs: number
  isReady: boolean
  isPinged: boolean
  /** Why it cannot serve the project, as it reported. */
  refusal: string | undefined
  /** False if another thread may load the project: this one lacked memory or time. */
  isOfCode: boolean
  /** Reason for any other end. */
  end: string
}

/** True for a project that needs an app thread. */
export function bringsCode({ login, app }: Pick<CompiledProject, 'login' | 'app'>): boolean {
  return login !== undefined || app !== undefined
}

/** Keeps one thread alive. Belongs to the host of the graphs. */
export class SupervisedApp {
  readonly #env: Env
  readonly #options: SupervisedAppOptions
  readonly #hide: (text: string) => string
  readonly #opened = Promise.withResolvers<void>()
  readonly #stopLooking: () => void
  #thread: Thread | undefined
  #served: ToAppThread | undefined
  #stopPause = () => {}
  #names = 0
  #deaths = 0
  #wasReady = false
  #isClosed = false
  #lastLookMs: number

  constructor(env: Env, options: SupervisedAppOptions) {
    this.#env = env
    this.#options = options
    this.#hide = secretHider(options.variables)
    this.#lastLookMs = env.monotonicMs()
    this.#opened.promise.catch(() => {})
    this.#stopLooking = env.every(lookMs, () => this.#look())
    this.#start()
  }

  /** Resolves when it has loaded the project. Rejects with `graph_failed` if its code cannot. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Gives its code the URL at which the server answers clients; undefined if it does not. */
  servedAt(url: string | undefined): void {
    this.#served = { type: 'served', url }
    this.#thread?.port.postMessage(this.#served)
  }

  /** Ends it, whatever it does. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopLooking()
    this.#stopPause()
    await this.#thread?.worker.terminate()
  }

  #start(): void {
    const { project, heapMb, variables: env, printed } = this.#options
    const { port1: port, port2 } = new MessageChannel()
    const name = `app-${++this.#names}`
    const token = this.#env.secret()
    const workerData: AppThreadData = { name, project, token, port: port2 }
    const worker = new Worker(new URL('./app-thread.ts', import.meta.url), { name, workerData,
      transferList: [port2], env, stdout: true, stderr: true,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb,
        maxOldGenerationSizeMb: heapMb } })
    const nowMs = this.#env.monotonicMs()
    const thread: Thread = { worker, port, startedMs: nowMs, lastSeenMs: nowMs, isReady: false,
      isPinged: false, refusal: undefined, isOfCode: true, end: 'it ended by itself' }
    this.#thread = thread
    const receive = (mail: unknown) => {
      thread.lastSeenMs = this.#env.monotonicMs()
      if (isAppMail(mail)) this.#receive(thread, token, mail)
    }
    port.on('message', receive)
    worker.on('error', (error: Error & { code?: string }) => {
      if (isMachineFault(error)) thread.isOfCode = false
      thread.end = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? 'it had no memory left'
        : error.message
    })
    worker.on('exit', () => {
      // Its last messages may still be queued.
      for (let last; (last = receiveMessageOnPort(port));) receive(last.message)
      this.#ended(thread)
    })
    const take = printed ?? logPrinted(this.#env.log, name, this.#hide)
    eachLine(worker.stdout, (line) => take(line, 'info'))
    eachLine(worker.stderr, (line) => take(line, 'warn'))
    if (this.#served) port.postMessage(this.#served)
  }

  #receive(thread: Thread, token: string, mail: FromAppThread): void {
    if (mail.type === 'pong') thread.isPinged = false
    // A thread that is ready said the rest before.
    else if (thread.isReady) return
    else if (mail.type === 'refused') {
      thread.refusal = mail.reason
      thread.isOfCode = !mail.isTransient
    } else {
      thread.isReady = this.#wasReady = true
      this.#opened.resolve()
      this.#options.moved({ ...mail.place, token })
    }
  }

  #look(): void {
    const nowMs = this.#env.monotonicMs()
    const thread = this.#thread
    // If this thread itself was blocked, it could not receive messages.
    if (thread && nowMs - this.#lastLookMs > 2 * lookMs) thread.lastSeenMs = nowMs
    this.#lastLookMs = nowMs
    if (thread === undefined) return
    const silentMs = nowMs - thread.lastSeenMs
    const { hangMs, startMs = loadMs } = this.#options
    if (silentMs > (thread.isReady ? hangMs : startMs)) {
      thread.end = `it did not answer for ${Math.round(silentMs / 1_000)} seconds`
      thread.isOfCode = false
      this.#thread = undefined
      void thread.worker.terminate()
      return this.#lost(thread)
    }
    if (!thread.isReady || thread.isPinged) return
    thread.isPinged = true
    thread.port.postMessage({ type: 'ping' } satisfies ToAppThread)
  }

  #ended(thread: Thread): void {
    thread.port.close()
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#lost(thread)
  }

  /** Starts another one, unless it never could be loaded. */
  #lost({ startedMs, refusal, isOfCode, end }: Thread): void {
    if (this.#isClosed) return
    if (!this.#wasReady) {
      this.#stopLooking()
      this.#opened.reject(
        new HeddleError(isOfCode ? 'graph_failed' : 'unavailable',
          refusal ?? `The login or the app of the project cannot be loaded: ${end}.`),
      )
      return
    }
    this.#options.moved(undefined)
    this.#env.log.warn('The thread of the login and the app is replaced.', {
      reason: this.#hide(refusal ?? end),
    })
    const livedLong = this.#env.monotonicMs() - startedMs > livedMs
    this.#deaths = livedLong ? 1 : this.#deaths + 1
    const delayMs = this.#deaths === 1 ? 0 : backoffMs(pauses, this.#deaths - 1, this.#env.random())
    this.#stopPause = this.#env.after(delayMs, () => this.#start())
  }
}
