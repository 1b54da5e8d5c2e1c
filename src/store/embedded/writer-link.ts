/** The main thread's end of the writer thread: sends in batches, settles what comes back. */

import type { Worker } from 'node:worker_threads'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Greeting, Question, Reader, Reply, Request, WireError, Write } from './request.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: HeddleError) => void
}

type Unsent =
  | { readonly write: Write }
  | { readonly question: Question; readonly values: readonly unknown[] }
  | { readonly close: true }

/**
 * open     requests are sent and answered
 * closing  no new ones; those that are out will be answered
 * gone     the thread has ended: every request is refused
 */
type State = 'open' | 'closing' | 'gone'

export class WriterLink {
  /** The epoch of this life. */
  readonly epoch: number
  readonly #worker: Worker
  readonly #log: Log
  readonly #gone: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #state: State = 'open'
  #batch: Request[] = []
  #ids = 0

  /** Waits until the writer can write. Throws HeddleError with what it says otherwise. */
  static async open(worker: Worker, log: Log): Promise<WriterLink> {
    const gone = new Promise<void>((resolve) => { worker.once('exit', () => resolve()) })
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    if ('error' in greeting) {
      await gone
      throw fromWire(greeting.error)
    }
    return new WriterLink(worker, log, greeting.epoch, gone)
  }

  private constructor(worker: Worker, log: Log, epoch: number, gone: Promise<void>) {
    this.#worker = worker
    this.#log = log
    this.#gone = gone
    this.epoch = epoch
    worker.on('message', (replies: readonly Reply[]) => this.#settle(replies))
    worker.removeAllListeners('error')
    worker.on('error', (error) => this.#lost(error))
    worker.on('exit', () => this.#lost())
  }

  /** Resolves when it is on disk. */
  async write(write: Write): Promise<void> {
    await this.#send({ write })
  }

  async ask<Name extends Question>(question: Name, ...values: Parameters<Reader[Name]>):
    Promise<ReturnType<Reader[Name]>> {
    return await this.#send({ question, values }) as ReturnType<Reader[Name]>
  }

  /** Resolves when everything asked for is done and the file is closed. */
  async close(): Promise<void> {
    if (this.#state === 'open') {
      void this.#send({ close: true }).catch(() => {})
      this.#state = 'closing'
    }
    await this.#gone
  }

  #send(request: Unsent): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(closed())
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#pending.set(id, { resolve, reject })
    if (this.#batch.push({ id, ...request }) === 1) setImmediate(() => this.#flush())
    return promise
  }

  #flush(): void {
    const batch = this.#batch
    this.#batch = []
    this.#worker.postMessage(batch)
  }

  #settle(replies: readonly Reply[]): void {
    for (const { id, value, error } of replies) {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (error) pending?.reject(fromWire(error))
      else pending?.resolve(value)
    }
  }

  #lost(error?: unknown): void {
    if (this.#state === 'open') {
      this.#log.error('The thread that writes the data directory has died.', { error })
    }
    this.#state = 'gone'
    for (const { reject } of this.#pending.values()) reject(closed())
    this.#pending.clear()
  }
}

function closed(): HeddleError {
  return new HeddleError('unavailable', 'The data directory is closed; start the server again.')
}

function fromWire({ code, sentence, facts }: WireError): HeddleError {
  return new HeddleError(code, sentence, facts)
}
