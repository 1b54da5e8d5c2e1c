/** The main thread's end of the writer thread: sends batches, settles what comes back. */

import type { Worker } from 'node:worker_threads'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { CommitQueue } from '../durable/index.ts'
import type { DurableQueue } from '../durable/index.ts'
import type { AskedQuestion, Batches, Greeting, StoreGeneration, Question, Reader, Reply, Requests,
  WireError } from '../requests/request.ts'
import { buffersOf, packWrites } from '../requests/wire-batch.ts'
import type { Write } from '../requests/write.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: HeddleError) => void
}

/** The requests of one turn of the event loop. */
interface Turn {
  readonly writeIds: number[]
  readonly writes: Write[]
  readonly questions: AskedQuestion[]
}

const death = 'The thread that writes the data directory has died.'

/** Called once, with the reason, when nothing can be read or written any more. */
export type OnLost = (reason: string) => void

/**
 * open     requests are sent and answered
 * closing  new requests are refused, sent ones are answered
 * gone     the thread has ended and every request is refused
 */
type State = 'open' | 'closing' | 'gone'

type WriterEnv = Pick<Env, 'log' | 'after'>

/**
 * Time and number of acknowledged batches that are held back, and then sent after the answers to
 * them. To wake a thread takes long, and no caller waits for these. A question sends them first.
 */
const holdMs = 20
const heldMax = 16

/** Sends requests to the writer thread. Belongs to the store, on the main thread. */
export class WriterLink {
  readonly generation: StoreGeneration
  readonly #worker: Worker
  readonly #env: WriterEnv
  readonly #onLost: OnLost
  readonly #gone: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #state: State = 'open'
  #turn: Turn = { writeIds: [], writes: [], questions: [] }
  /** Acknowledged, and not sent yet. */
  #held: Requests[] = []
  #stopHolding = () => {}
  #ids = 0
  #queue: DurableQueue = new CommitQueue()

  /**
   * Waits until the writer thread can write. Throws HeddleError if it cannot. `onLost` is called
   * when the thread dies, before any caller learns of a failure, because the request may have been
   * done.
   */
  static async open(worker: Worker, env: WriterEnv,
    onLost: OnLost = () => {}): Promise<WriterLink> {
    const gone = new Promise<void>((resolve) => {
      worker.once('exit', () => resolve())
    })
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      void gone.then(() => reject(closed()))
    })
    if ('epoch' in greeting) return new WriterLink(worker, { env, onLost }, greeting, gone)
    await gone
    throw fromWire(greeting.error)
  }

  private constructor(worker: Worker, { env, onLost }: {
    readonly env: WriterEnv
    readonly onLost: OnLost
  }, generation: StoreGeneration, gone: Promise<void>) {
    this.#worker = worker
    this.#env = env
    this.#onLost = onLost
    this.#gone = gone
    this.generation = generation
    worker.on('message', (replies: readonly Reply[]) => this.#settle(replies))
    worker.on('error', (error) => this.#lost(error))
    worker.on('exit', () => this.#lost())
  }

  /** From now on, the queue decides when a write is acknowledged. */
  useQueue(queue: DurableQueue): void {
    this.#queue = queue
  }

  /** Notes a new branch. Its id was just made, so no other branch has it. */
  expectBranch(id: string): void {
    this.#queue.expectBranch(id)
  }

  /** True if the rows of a thread may be newer than those in the file. */
  isAheadOn(tenant: string, threadId: string): boolean {
    return this.#queue.isAheadOn(tenant, threadId)
  }

  /** Resolves when the write is on disk. */
  async write(write: Write): Promise<void> {
    await this.#send((id) => {
      this.#turn.writeIds.push(id)
      this.#turn.writes.push(write)
    })
  }

  async ask<Name extends Question>(question: Name,
    ...values: Parameters<Reader[Name]>): Promise<ReturnType<Reader[Name]>> {
    const answer = this.#send((id) => {
      this.#turn.questions.push({ id, question, values })
    })
    return await answer as ReturnType<Reader[Name]>
  }

  /**
   * Resolves when everything that was acknowledged is in the database. Throws `unavailable` if the
   * disk does not take it now.
   */
  async settled(): Promise<void> {
    const last = this.#ids
    await this.ask('nothing')
    if (!this.#queue.isAheadSince(last)) return
    throw new HeddleError('unavailable', 'The disk does not take what was written before: this ' +
      'cannot be searched right now.')
  }

  /** Resolves when all requests are done and the file is closed. */
  async close(): Promise<void> {
    this.#queue.close()
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#flush()
    }
    await this.#gone
  }

  #send(put: (id: number) => void): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(closed())
    const { writes, questions } = this.#turn
    if (writes.length + questions.length === 0) setImmediate(() => this.#flush())
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#pending.set(id, { resolve, reject })
    put(id)
    return promise
  }

  #flush(): void {
    const { writeIds, writes, questions } = this.#turn
    const packed = packWrites(writes)
    let committed
    try {
      committed = this.#queue.commit({ ids: writeIds, writes, packed })
    } catch (error) {
      return this.#giveUp(error)
    }
    const { acknowledged } = committed
    if (acknowledged) { for (const id of writeIds) this.#resolve(id, undefined) }
    const close = this.#state === 'closing'
    const urgent = !acknowledged || questions.length > 0 || close
    this.#held.push({ writeIds, writes: packed, questions, ...committed, close })
    this.#turn = { writeIds: [], writes: [], questions: [] }
    if (urgent || this.#held.length === heldMax) this.#handOver()
    else if (this.#held.length === 1) {
      this.#stopHolding = this.#env.after(holdMs, () => this.#handOver())
    }
  }

  #handOver(): void {
    this.#stopHolding()
    const batches = this.#held
    this.#held = []
    this.#worker.postMessage(batches satisfies Batches,
      batches.flatMap(({ writes }) => buffersOf(writes)))
  }

  #settle(replies: readonly Reply[]): void {
    for (const { id, value, error } of replies) {
      if (this.#queue.answered(id, error === undefined)) {
        // What was acknowledged was not done: nothing more may be. It is on disk still.
        if (error) this.#giveUp(fromWire(error))
      } else if (error) {
        this.#pending.get(id)?.reject(fromWire(error))
        this.#pending.delete(id)
      } else {
        this.#resolve(id, value)
      }
    }
  }

  #resolve(id: number, value: unknown): void {
    this.#pending.get(id)?.resolve(value)
    this.#pending.delete(id)
  }

  #giveUp(error: unknown): void {
    this.#lost(error)
    void this.#worker.terminate()
  }

  #lost(error?: unknown): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'gone'
    this.#queue.close()
    this.#stopHolding()
    if (wasOpen || error !== undefined) this.#env.log.error(death, { error })
    if (wasOpen) this.#onLost(death)
    for (const { reject } of this.#pending.values()) reject(closed())
    this.#pending.clear()
  }
}

function closed(): HeddleError {
  return new HeddleError('unavailable', 'The data directory is closed; start the server again.')
}

function fromWire({ code, message, details, cause }: WireError): HeddleError {
  return new HeddleError(code, message, details, { cause })
}
