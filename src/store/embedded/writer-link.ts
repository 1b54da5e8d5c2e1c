/** The main thread's end of the writer thread: sends batches, settles what comes back. */

import type { Worker } from 'node:worker_threads'

import { atMost } from '../../../cluster/index.ts'
import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { packWrites } from './parcel.ts'
import type {
  AskedQuestion, Greeting, Question, Reader, Reply, Requests, WireError,
} from './request.ts'
import type { Write } from './write.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: HeddleError) => void
}

const death = 'The thread that writes the data directory has died.'

/** Called with a sentence that says why nothing can be read or written any more. */
export type OnLost = (reason: string) => void

/**
 * open     requests are sent and answered
 * closing  no new requests; those already sent will be answered
 * gone     the thread has ended: every request is refused
 */
type State = 'open' | 'closing' | 'gone'

/** Pages read at the same time: each may be as long as an answer may be. */
const pagesAtOnce = 4

export class WriterLink {
  /** The epoch of this life. */
  readonly epoch: number
  readonly #worker: Worker
  readonly #log: Log
  readonly #onLost: OnLost
  readonly #gone: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #state: State = 'open'
  #writeIds: number[] = []
  #writes: Write[] = []
  #questions: AskedQuestion[] = []
  #ids = 0
  readonly #pages = atMost(pagesAtOnce)

  /**
   * Waits until the writer thread can write. Throws HeddleError if it cannot. `onLost` is called
   * when the thread dies, before any waiting caller hears of a failure: the request may have been
   * done.
   */
  static async open(worker: Worker, log: Log, onLost: OnLost = () => {}): Promise<WriterLink> {
    const gone = new Promise<void>((resolve) => { worker.once('exit', () => resolve()) })
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      void gone.then(() => reject(closed()))
    })
    if ('epoch' in greeting) return new WriterLink(worker, { log, onLost }, greeting.epoch, gone)
    await gone
    throw fromWire(greeting.error)
  }

  private constructor(worker: Worker, { log, onLost }: { readonly log: Log
    readonly onLost: OnLost }, epoch: number, gone: Promise<void>) {
    this.#worker = worker
    this.#log = log
    this.#onLost = onLost
    this.#gone = gone
    this.epoch = epoch
    worker.on('message', (replies: readonly Reply[]) => this.#settle(replies))
    worker.on('error', (error) => this.#lost(error))
    worker.on('exit', () => this.#lost())
  }

  /** Resolves when the write is on disk. */
  async write(write: Write): Promise<void> {
    await this.#send((id) => {
      this.#writeIds.push(id)
      this.#writes.push(write)
    })
  }

  /** Asks for rows, which may be many and large: only a few pages at a time. */
  page<Name extends Question>(question: Name, ...values: Parameters<Reader[Name]>):
    Promise<ReturnType<Reader[Name]>> {
    return this.#pages(() => this.ask(question, ...values))
  }

  async ask<Name extends Question>(question: Name, ...values: Parameters<Reader[Name]>):
    Promise<ReturnType<Reader[Name]>> {
    const answer = this.#send((id) => { this.#questions.push({ id, question, values }) })
    return await answer as ReturnType<Reader[Name]>
  }

  /** Resolves when all requests are done and the file is closed. */
  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#flush()
    }
    await this.#gone
  }

  #send(put: (id: number) => void): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(closed())
    if (this.#writes.length + this.#questions.length === 0) setImmediate(() => this.#flush())
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#pending.set(id, { resolve, reject })
    put(id)
    return promise
  }

  #flush(): void {
    const writes = packWrites(this.#writes)
    const close = this.#state === 'closing'
    const requests = { writeIds: this.#writeIds, writes, questions: this.#questions, close }
    this.#writeIds = []
    this.#writes = []
    this.#questions = []
    this.#worker.postMessage(requests satisfies Requests, [writes.bytes.buffer])
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
    const wasOpen = this.#state === 'open'
    this.#state = 'gone'
    if (wasOpen || error !== undefined) this.#log.error(death, { error })
    if (wasOpen) this.#onLost(death)
    for (const { reject } of this.#pending.values()) reject(closed())
    this.#pending.clear()
  }
}

function closed(): HeddleError {
  return new HeddleError('unavailable', 'The data directory is closed; start the server again.')
}

function fromWire({ code, sentence, facts, cause }: WireError): HeddleError {
  return new HeddleError(code, sentence, facts, { cause })
}
