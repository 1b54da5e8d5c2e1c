/** The main thread's end of the writer thread: sends batches, settles what comes back. */

import type { Worker } from 'node:worker_threads'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { BranchTails } from './branch-tails.ts'
import type { FileIdentity } from './file-identity.ts'
import type { AskedQuestion, Batches, Greeting, StoreGeneration, Question, Reader, Reply, Requests,
  WireError } from './request.ts'
import { buffersOf, packWrites } from './wire-batch.ts'
import type { WireBatch } from './wire-batch.ts'
import type { WriteAheadFile } from './write-ahead-file.ts'
import { concerns } from './write.ts'
import type { Write } from './write.ts'

interface Pending {
  /** Undefined for a question, and without a write-ahead file. */
  readonly write: Write | undefined
  readonly resolve: (value: unknown) => void
  readonly reject: (error: HeddleError) => void
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

/** Acknowledged writes that the database may lack. Beyond it, writes wait for the writer thread. */
const unappliedMax = 32

/** Lets writes be acknowledged before the writer thread has them. */
interface Shortcut {
  readonly place: Pick<FileIdentity, 'check'>
  readonly ahead: Pick<WriteAheadFile, 'hasRoom' | 'append' | 'rewind'>
  readonly tails: Pick<BranchTails, 'expect' | 'takes' | 'note'>
}

/** Sends requests to the writer thread. Belongs to the store, on the main thread. */
export class WriterLink {
  readonly generation: StoreGeneration
  readonly #worker: Worker
  readonly #env: WriterEnv
  readonly #onLost: OnLost
  readonly #gone: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #state: State = 'open'
  #writeIds: number[] = []
  #writes: Write[] = []
  #questions: AskedQuestion[] = []
  /** Batches that are acknowledged and not sent yet. */
  #held: Requests[] = []
  #stopHolding = () => {}
  #ids = 0
  #shortcut: Shortcut | undefined
  /** Number of the newest batch with writes. */
  #number = 0
  /** True if the newest answered write that did not use the write-ahead file succeeded. */
  #lastIsDone = true
  /**
   * Writes by id that are in the write-ahead file and acknowledged, but not in the database yet.
   */
  readonly #unapplied = new Map<number, Write>()
  /** Writes that were sent without the write-ahead file and are not answered yet. */
  #writesUnderWay = 0

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

  /**
   * From now on, writes that cannot be refused are acknowledged when the write-ahead file has them.
   */
  useWriteAhead(shortcut: Shortcut): void {
    this.#shortcut = shortcut
    this.#number = this.generation.written
  }

  /** Notes a new branch. Its id was just made, so no other branch has it. */
  expectBranch(id: string): void {
    this.#shortcut?.tails.expect(id)
  }

  /** True if the rows of a thread may be newer than those in the file. */
  isAheadOn(tenant: string, threadId: string): boolean {
    return [...this.#unapplied.values()].some((write) => concerns(write, tenant, threadId))
  }

  /** Resolves when the write is on disk. */
  async write(write: Write): Promise<void> {
    await this.#send(write, (id) => {
      this.#writeIds.push(id)
      this.#writes.push(write)
    })
  }

  async ask<Name extends Question>(question: Name,
    ...values: Parameters<Reader[Name]>): Promise<ReturnType<Reader[Name]>> {
    const answer = this.#send(undefined, (id) => {
      this.#questions.push({ id, question, values })
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
    if (![...this.#unapplied.keys()].some((id) => id <= last)) return
    throw new HeddleError('unavailable', 'The disk does not take what was written before: this ' +
      'cannot be searched right now.')
  }

  /** Resolves when all requests are done and the file is closed. */
  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#flush()
    }
    await this.#gone
  }

  #send(write: Write | undefined, put: (id: number) => void): Promise<unknown> {
    if (this.#state !== 'open') return Promise.reject(closed())
    if (this.#writes.length + this.#questions.length === 0) setImmediate(() => this.#flush())
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#pending.set(id, { write: this.#shortcut && write, resolve, reject })
    put(id)
    return promise
  }

  #flush(): void {
    const writes = packWrites(this.#writes)
    if (this.#shortcut && this.#writes.length > 0) this.#number += 1
    let acknowledged
    try {
      acknowledged = this.#acknowledge(writes)
    } catch (error) {
      return this.#giveUp(error)
    }
    if (this.#shortcut && !acknowledged) this.#writesUnderWay += this.#writes.length
    const close = this.#state === 'closing'
    const urgent = !acknowledged || this.#questions.length > 0 || close
    this.#held.push({ writeIds: this.#writeIds, writes, questions: this.#questions,
      number: this.#number, acknowledged, close })
    this.#writeIds = []
    this.#writes = []
    this.#questions = []
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

  /**
   * Appends a write to the write-ahead file and acknowledges it. True if that was possible. Only a
   * write that comes alone is appended: many are faster in one commit. It is not appended while
   * others are in progress, or after one that failed. It might then not follow what is in the log,
   * and its number would not follow in the file. Throws HeddleError if the files were removed.
   */
  #acknowledge(batch: WireBatch): boolean {
    const [write, ...others] = this.#writes
    if (!this.#shortcut || !write || others.length > 0 || this.#state !== 'open') return false
    if (this.#writesUnderWay > 0 || !this.#lastIsDone) return false
    if (this.#unapplied.size === unappliedMax) return false
    const { place, ahead, tails } = this.#shortcut
    if (!ahead.hasRoom(batch) || !tails.takes(write)) return false
    place.check()
    if (!ahead.append(batch, this.#number)) return false
    tails.note(write)
    const id = this.#writeIds[0]!
    this.#unapplied.set(id, write)
    this.#pending.get(id)!.resolve(undefined)
    this.#pending.delete(id)
    return true
  }

  #settle(replies: readonly Reply[]): void {
    for (const { id, value, error } of replies) {
      if (this.#unapplied.has(id)) {
        // An acknowledged write was not done, so nothing more may be. The write-ahead file still
        // has it.
        if (error) this.#giveUp(fromWire(error))
        else this.#unapplied.delete(id)
        continue
      }
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (pending?.write) this.#written(pending.write, error === undefined)
      if (error) pending?.reject(fromWire(error))
      else pending?.resolve(value)
    }
  }

  /** The writer thread has answered a write that is not in the write-ahead file. */
  #written(write: Write, isDone: boolean): void {
    this.#writesUnderWay -= 1
    this.#lastIsDone = isDone
    if (!this.#shortcut || !isDone) return
    this.#shortcut.tails.note(write)
    // This write waited for the disk, and with it for all before it.
    this.#shortcut.ahead.rewind()
  }

  #giveUp(error: unknown): void {
    this.#lost(error)
    void this.#worker.terminate()
  }

  #lost(error?: unknown): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'gone'
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
