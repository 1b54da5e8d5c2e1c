/** Has long bodies read in threads that can be ended: a few at a time, and one of each tenant. */

import { Worker } from 'node:worker_threads'

import { FairSemaphore } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import { enterTurn } from './in-turn.ts'

/** A body with the way to read it. Its bytes are moved. */
export interface BodyJob {
  readonly body: Uint8Array
}

/** A part of a body's content, its end, or the reason why it cannot be read. */
export type BodyMail =
  | { readonly part: unknown }
  | { readonly done: true }
  | {
    readonly error: { readonly code: ErrorCode; readonly message: string;
      readonly details: HeddleError['details'] }
  }

/** Bodies that are read at once. The receiver of bodies bounds how many wait. */
const turns = { inAll: 2, each: 1, waiting: 10_000,
  full: 'Too many long bodies are being read: send this one again in a moment.' } as const
/** Time that a body may take, and megabytes of the heap of its thread. */
const [readingMs, heapMb] = [20_000, 1_024]
/** Time for which a thread without work is kept. */
const idleMs = 10_000

/** The readers of a thread of the platform, which owns them. */
export class LongBodies<Job extends BodyJob> {
  readonly #module: URL
  readonly #env: Pick<Env, 'after'>
  readonly #turns = new FairSemaphore(turns)
  readonly #idle: Reader[] = []

  /** `module` is the script of a thread that answers each job with `BodyMail`. */
  constructor(module: URL, env: Pick<Env, 'after'>) {
    this.#module = module
    this.#env = env
  }

  /**
   * The parts of a body, as its script hands them over. Takes the bytes out of their buffer. Throws
   * the errors of reading, and `too_large` for a body that takes too long.
   */
  async *read(tenant: string, job: Job): AsyncGenerator<unknown, void, void> {
    const leave = await enterTurn(this.#turns, tenant)
    const reader = this.#idle.pop() ?? new Reader(this.#module)
    const stop = this.#env.after(readingMs, () => reader.end('late'))
    try {
      for (let sent: Job | null = job;; sent = null) {
        const mail = await reader.ask(sent)
        if ('error' in mail) {
          throw new HeddleError(mail.error.code, mail.error.message, mail.error.details)
        }
        if ('done' in mail) return
        yield mail.part
      }
    } finally {
      stop()
      reader.rest(this.#idle, this.#env)
      leave()
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((reader) => reader.end('closed')))
  }
}

class Reader {
  readonly #worker: Worker
  #asked: PromiseWithResolvers<BodyMail> | undefined
  #ended: 'late' | 'died' | 'closed' | undefined
  #stopResting = () => undefined as void

  constructor(module: URL) {
    this.#worker = new Worker(module, { name: 'body',
      resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    this.#worker.on('message', (mail: BodyMail) => {
      this.#asked?.resolve(mail)
      this.#asked = undefined
    })
    this.#worker.on('error', () => void this.end('died'))
    this.#worker.on('exit', () => void this.end('died'))
  }

  /** Sends a job, or null for the next part of the one before. */
  async ask(job: BodyJob | null): Promise<BodyMail> {
    this.#stopResting()
    if (this.#ended !== undefined) throw endOf(this.#ended)
    this.#asked = Promise.withResolvers()
    const isWhole = job !== null && job.body.byteLength === job.body.buffer.byteLength
    this.#worker.postMessage(job, isWhole ? [job.body.buffer as ArrayBuffer] : [])
    return this.#asked.promise
  }

  /** Keeps the thread for a while for the next body, unless it is ended. */
  rest(idle: Reader[], env: Pick<Env, 'after'>): void {
    if (this.#ended !== undefined) return
    idle.push(this)
    this.#stopResting = env.after(idleMs, () => {
      const at = idle.indexOf(this)
      if (at >= 0) idle.splice(at, 1)
      void this.end('closed')
    })
  }

  async end(why: 'late' | 'died' | 'closed'): Promise<void> {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#stopResting()
    this.#asked?.reject(endOf(why))
    await this.#worker.terminate()
  }
}

function endOf(why: 'late' | 'died' | 'closed'): HeddleError {
  switch (why) {
    case 'late':
      return new HeddleError('too_large',
        `Reading the body took longer than ${readingMs / 1_000} seconds: send it in parts.`)
    case 'died':
      return new HeddleError('too_large',
        'Reading the body takes more memory than one may have: send it in parts.')
    case 'closed':
      return new HeddleError('unavailable')
  }
}
