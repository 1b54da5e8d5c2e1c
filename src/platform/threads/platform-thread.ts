/** A thread of the platform, started when it is first called and again if it died. */

import { MessageChannel, Worker } from 'node:worker_threads'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { callsTo, serveCalls } from '../calls/calls.ts'
import type { Calls, Handlers } from '../calls/calls.ts'
import type { SpanStorePlace, ThreadStart } from './thread-start.ts'

/** Start of a thread of the platform. */
export interface PlatformThreadOptions {
  readonly name: 'ingest' | 'query'
  readonly store: SpanStorePlace
  /** Handlers for calls of the thread; none by default. */
  readonly needs?: Handlers
  /** Awaited before each call; missing if nothing has to settle. */
  readonly settled?: () => Promise<void> | undefined
  readonly log: Log
}

const modules = {
  ingest: new URL('./ingest-thread.ts', import.meta.url),
  query: new URL('./query-thread.ts', import.meta.url),
}

/** Starts a thread at its first call. It belongs to the platform, which closes it. */
export class PlatformThread<H extends { close(question: null): Promise<void> }> {
  readonly #options: PlatformThreadOptions
  #running: { readonly worker: Worker; readonly calls: Calls<H> } | undefined
  #closed = false

  constructor(options: PlatformThreadOptions) {
    this.#options = options
  }

  /** The calls of the thread. Throws `unavailable` when it is closed. */
  get calls(): Calls<H> {
    if (this.#closed) throw new HeddleError('unavailable')
    return (this.#running ??= this.#start()).calls
  }

  async close(): Promise<void> {
    this.#closed = true
    const running = this.#running
    if (running === undefined) return
    const ended = new Promise((resolve) => running.worker.once('exit', resolve))
    await (running.calls as Calls<{ close(question: null): Promise<void> }>).close(null)
      .catch(() => running.worker.terminate())
    await ended
  }

  #start() {
    const { name, store, needs, log, settled } = this.#options
    const [own, theirs] = portPair()
    const [ownNeeds, theirNeeds] = needs === undefined ? [null, null] : portPair()
    if (ownNeeds !== null) serveCalls(ownNeeds, needs!)
    const worker = new Worker(modules[name], {
      name,
      workerData: { store, calls: theirs, needs: theirNeeds } satisfies ThreadStart,
      transferList: [theirs, ...theirNeeds === null ? [] : [theirNeeds]],
    })
    const calls = callsTo<H>(own, settled)
    worker.on('error', (error) => log.error('A thread of the platform died.', { name, error }))
    worker.on('exit', () => {
      own.close()
      ownNeeds?.close()
      if (this.#running?.worker === worker) this.#running = undefined
    })
    return { worker, calls }
  }
}

function portPair() {
  const { port1, port2 } = new MessageChannel()
  return [port1, port2] as const
}
