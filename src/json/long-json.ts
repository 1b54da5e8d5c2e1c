/** Reads long JSON in a thread of its own: the main thread never parses it. */

import { Worker } from 'node:worker_threads'

import { Turnstile } from '../../cluster/index.ts'
import type { Log } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { withPieces } from '../raw-json.ts'
import type { FromReader, ReadJob, ToReader } from './reader-mail.ts'
import type { Split } from './split.ts'

/** JSON up to so many bytes is parsed at once: that takes less than a few milliseconds. */
export const longJson = 128 * 1024

/** They are read one at a time, each tenant in turn. Who receives them bounds their bytes. */
const waitingMax = 10_000

/** Reads long JSON for the tenants of a server. */
export interface LongJson {
  /**
   * The value, in which carried members are raw. Takes the bytes away from their buffer. Throws
   * `malformed` or `invalid`, `unavailable` if the thread died.
   */
  read(tenant: string, job: ReadJob): Promise<unknown>
  /** Ends the thread, which is started when it is first needed. */
  close(): Promise<void>
}

export function readLongJson(log: Log): LongJson {
  let thread: ReaderThread | undefined
  const turns = new Turnstile({ inAll: 1, each: 1, waiting: waitingMax,
    full: 'Too many long bodies are being read: send this one again in a moment.' })
  return {
    read: async (tenant, job) => {
      const leave = await turns.enter(tenant)
      try {
        if (thread === undefined || thread.ended) thread = new ReaderThread(log)
        return joined(await thread.read(job))
      } finally {
        leave()
      }
    },
    close: async () => { await thread?.close() },
  }
}

class ReaderThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<Split>>()
  #ids = 0
  ended = false

  constructor(log: Log) {
    this.#worker = new Worker(new URL('./reader-thread.ts', import.meta.url), { name: 'json' })
    this.#worker.unref()
    this.#worker.on('message', ({ id, split, error }: FromReader) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (split) waiting?.resolve(split)
      else waiting?.reject(new HeddleError(error!.code, error!.sentence, error!.facts))
    })
    this.#worker.on('error', (error) => log.error('The thread that reads JSON died.', { error }))
    this.#worker.on('exit', () => {
      this.ended = true
      for (const { reject } of this.#waiting.values()) reject(new HeddleError('unavailable'))
      this.#waiting.clear()
    })
  }

  read(job: ReadJob): Promise<Split> {
    const waiting = Promise.withResolvers<Split>()
    const id = ++this.#ids
    this.#waiting.set(id, waiting)
    // A buffer that others use as well is copied whole.
    const isWhole = job.bytes.byteLength === job.bytes.buffer.byteLength
    this.#worker.postMessage({ id, job } satisfies ToReader,
      isWhole ? [job.bytes.buffer as ArrayBuffer] : [])
    return waiting.promise
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

function joined({ rest, pieces }: Split): unknown {
  return withPieces(JSON.parse(rest), pieces)
}
