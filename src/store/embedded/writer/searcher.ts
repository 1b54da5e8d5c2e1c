/**
 * The thread that searches through documents, so that the writer thread does not have to. Started
 * by search-link.ts. Searches continue in slices, each in its turn.
 */

import { parentPort, workerData } from 'node:worker_threads'

import { assert } from '../../../errors.ts'
import { Database } from '../file/database.ts'
import { callerDiskError } from '../file/disk-error.ts'
import type { SearchOrder, SearchReply, StoreFile } from '../requests/request.ts'
import { UnlistedShards } from '../search/unlisted-shards.ts'
import { VectorCache } from '../search/vector-cache.ts'
import { slicesOf } from './document-slices.ts'
import type { Slices } from './document-slices.ts'

assert(parentPort, 'the searcher runs in a worker thread')
const port = parentPort
const { path: file, shards } = workerData as StoreFile

/** Vectors that earlier searches have read. */
const vectors = new VectorCache()

/** Connections without a search. */
const idle: Database[] = []

/** A search in progress. Its connection is its own, so it sees what was there when it began. */
class Search implements Disposable {
  readonly id: number
  readonly #database = idle.pop() ?? new Database(file)
  readonly #snapshot = this.#database.snapshot()
  readonly #covered: readonly number[]
  readonly #slices: Slices

  constructor({ id, question }: SearchOrder) {
    this.id = id
    const unlisted = shards === undefined ? undefined : new UnlistedShards(this.#database, true)
    this.#covered = unlisted ? this.#loaded() : []
    if (unlisted) vectors.keepShards(this.#loads())
    this.#slices = slicesOf(this.#database, question, { unlisted, vectors })
  }

  /** Continues the search. Undefined as long as it is not done. */
  resume(): SearchReply | undefined {
    const { done, value } = this.#slices.next()
    return done ? { id: this.id, found: { ...value, covered: this.#covered } } : undefined
  }

  [Symbol.dispose](): void {
    this.#slices.return({ sizes: [], total: 0 })
    this.#snapshot[Symbol.dispose]()
    idle.push(this.#database)
  }

  #loads(): ReadonlyMap<number, number> {
    const all = this.#database.prepare<readonly [shard: number, load: number]>(
      'SELECT shard, load FROM shard_load',
    )
    return new Map(all.all())
  }

  #loaded(): number[] {
    const all = this.#database.prepare<readonly [shard: number]>('SELECT shard FROM loaded')
    return all.all().map(([shard]) => shard)
  }
}

/** Searches in the order of their turns. */
const searches = new Map<number, Search>()

function failed(id: number, caught: unknown): SearchReply {
  const { code, message, details, cause } = callerDiskError(caught, file)
  return { id, error: { code, message: message, details, cause } }
}

function end(id: number): void {
  searches.get(id)?.[Symbol.dispose]()
  searches.delete(id)
}

/** Runs one slice of the search whose turn it is. New searches are received in between. */
function turn(): void {
  const [search] = searches.values()
  if (search === undefined) return
  const { id } = search
  searches.delete(id)
  searches.set(id, search)
  try {
    const reply = search.resume()
    if (reply) {
      port.postMessage(reply)
      end(id)
    }
  } catch (error) {
    port.postMessage(failed(id, error))
    end(id)
  }
  setImmediate(turn)
}

port.on('message', (order: SearchOrder | { readonly giveUp: number } | 'close') => {
  if (order === 'close') {
    for (const id of searches.keys()) end(id)
    for (const database of idle) database.close()
    return port.close()
  }
  if ('giveUp' in order) return end(order.giveUp)
  try {
    searches.set(order.id, new Search(order))
    if (searches.size === 1) setImmediate(turn)
  } catch (error) {
    port.postMessage(failed(order.id, error))
  }
})
