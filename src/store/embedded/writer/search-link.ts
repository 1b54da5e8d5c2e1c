/** The main thread's end of the search thread, which is started when it is first needed. */

import { Worker } from 'node:worker_threads'

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Log } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { SearchFound, SearchOrder, SearchQuestion, SearchReply,
  StoreFile } from '../requests/request.ts'

/** Bounds on searches, so that a tenant who searches much delays only itself. */
const limits = { inAll: 8, each: 1, waiting: 1_000, waitingEach: 100,
  full: 'Too many searches through metadata wait already: ask again when some are done.' }

/** Sends searches to the search thread. Belongs to the store, on the main thread. */
export class SearchLink {
  readonly #file: StoreFile
  readonly #log: Log
  readonly #turns = new FairSemaphore(limits)
  readonly #pending = new Map<number, PromiseWithResolvers<SearchFound>>()
  #worker: Worker | undefined
  #ids = 0
  #closed = false

  constructor(file: StoreFile, log: Log) {
    this.#file = file
    this.#log = log
  }

  /**
   * Searches what is committed when its turn has come. `ready` is awaited then. Throws the reason
   * of `cancelled` when that aborts.
   */
  async search(question: SearchQuestion, ready: () => Promise<void>,
    cancelled?: AbortSignal): Promise<SearchFound> {
    const leave = await this.#turns.enter(question.query.tenant, cancelled)
    try {
      await ready()
      return await this.#ask(question, cancelled)
    } finally {
      leave()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close')
    await ended
  }

  async #ask(question: SearchQuestion, cancelled: AbortSignal | undefined): Promise<SearchFound> {
    if (this.#closed) throw ended()
    cancelled?.throwIfAborted()
    const id = ++this.#ids
    const found = Promise.withResolvers<SearchFound>()
    this.#pending.set(id, found)
    const worker = this.#worker ??= this.#start()
    const giveUp = () => {
      worker.postMessage({ giveUp: id })
      found.reject(cancelled!.reason)
    }
    cancelled?.addEventListener('abort', giveUp)
    worker.postMessage({ id, question } satisfies SearchOrder)
    try {
      return await found.promise
    } finally {
      cancelled?.removeEventListener('abort', giveUp)
      this.#pending.delete(id)
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('./searcher.ts', import.meta.url), { name: 'search',
      workerData: this.#file })
    worker.on('message', (reply: SearchReply) => {
      const found = this.#pending.get(reply.id)
      if ('found' in reply) return found?.resolve(reply.found)
      const { code, message, details, cause } = reply.error
      found?.reject(new HeddleError(code, message, details, { cause }))
    })
    worker.on('error', (error) => this.#log.error('The search thread died.', { error }))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      for (const { reject } of this.#pending.values()) reject(ended())
    })
    return worker
  }
}

function ended(): HeddleError {
  return new HeddleError('unavailable', 'The search was ended: ask again in a moment.')
}
