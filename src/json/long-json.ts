/** Reads long JSON in a thread of its own, so that the main thread never parses it. */

import { Worker } from 'node:worker_threads'

import { FairSemaphore } from '../../cluster/index.ts'
import type { Log } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { withPieces } from '../raw-json.ts'
import { contains } from './containment.ts'
import { pick } from './pick.ts'
import type { Path } from './pick.ts'
import type { FromReader, Job, ReadJob, ToReader } from './reader-mail.ts'
import type { Split } from './split.ts'

/** Bytes up to which JSON is parsed at once, which takes less than a few milliseconds. */
export const longJson = 128 * 1024

/**
 * Jobs that may wait. They are read one at a time, each tenant in turn. Who receives them bounds
 * their bytes.
 */
const waitingMax = 10_000

/**
 * Reads long JSON for the tenants of a server. All methods throw `unavailable` if the thread died.
 */
export interface LongJson {
  /**
   * The value, in which carried members are raw. Takes the bytes away from their buffer. Throws
   * `malformed` or `invalid`.
   */
  read(tenant: string, job: Omit<ReadJob, 'kind'>): Promise<unknown>
  /** True if a document contains `part`. Done at once for a short document. */
  contains(tenant: string, text: string, part: unknown): Promise<boolean>
  /** The texts of the values at the paths in a document. Done at once for a short document. */
  pick(tenant: string, text: string, paths: readonly Path[]): Promise<readonly string[]>
  /** Ends the thread, which is started when it is first needed. */
  close(): Promise<void>
}

/** Makes the reader of a server, which owns it. */
export function readLongJson(log: Log): LongJson {
  let thread: ReaderThread | undefined
  const turns = new FairSemaphore({ inAll: 1, each: 1, waiting: waitingMax,
    full: 'Too much long JSON is being read: ask again in a moment.' })
  const ask = async (tenant: string, job: Job) => {
    const leave = await turns.enter(tenant)
    try {
      if (thread === undefined || thread.ended) thread = new ReaderThread(log)
      return await thread.ask(job)
    } finally {
      leave()
    }
  }
  return {
    read: async (tenant, job) => {
      const { rest, pieces } = await ask(tenant, { kind: 'read', ...job }) as Split
      return withPieces(JSON.parse(rest), pieces)
    },
    contains: async (tenant, text, part) => {
      if (text.length <= longJson) return contains(JSON.parse(text), part)
      return await ask(tenant, { kind: 'contains', text, part }) as boolean
    },
    pick: async (tenant, text, paths) => {
      if (text.length <= longJson) return pick(JSON.parse(text), paths)
      return await ask(tenant, { kind: 'pick', text, paths }) as string[]
    },
    close: async () => {
      await thread?.close()
    },
  }
}

class ReaderThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #ids = 0
  ended = false

  constructor(log: Log) {
    this.#worker = new Worker(new URL('./reader-thread.ts', import.meta.url), { name: 'json' })
    this.#worker.unref()
    this.#worker.on('message', ({ id, value, error }: FromReader) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error) waiting?.reject(new HeddleError(error.code, error.message, error.details))
      else waiting?.resolve(value)
    })
    this.#worker.on('error', (error) => log.error('The thread that reads JSON died.', { error }))
    this.#worker.on('exit', () => {
      this.ended = true
      for (const { reject } of this.#waiting.values()) reject(new HeddleError('unavailable'))
      this.#waiting.clear()
    })
  }

  ask(job: Job): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>()
    const id = ++this.#ids
    this.#waiting.set(id, waiting)
    this.#worker.postMessage({ id, job } satisfies ToReader, buffersOf(job))
    return waiting.promise
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Buffers to transfer. A buffer that is also used elsewhere is copied whole. */
function buffersOf(job: Job): ArrayBuffer[] {
  if (job.kind !== 'read') return []
  const { bytes: { buffer, byteLength } } = job
  return byteLength === buffer.byteLength && buffer instanceof ArrayBuffer ? [buffer] : []
}
