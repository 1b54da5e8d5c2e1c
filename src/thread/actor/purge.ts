/**
 * Removes a deleted thread from the store, however long the store is out of reach.
 * Rules: [same_life] [purged_first].
 */

import { atLatest, Backoff } from '../../../cluster/index.ts'
import type { ActorContext } from '../../../cluster/index.ts'
import type { Branch, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { RunTable } from '../../search/index.ts'
import type { ThreadPorts } from '../context/thread-context.ts'
import { planOf } from '../model/run-request.ts'

/** Pauses before the next try. */
const pauses = { firstMs: 1_000, longestMs: 60_000 }

type PurgePorts = Pick<ThreadPorts, 'log' | 'env'> & GoneRunsPorts

/** The purge of one thread, tried until it works. */
export class Purge {
  readonly #ports: PurgePorts
  readonly #context: ActorContext
  readonly #over: () => void
  /** Count of the thread's deletes that are not purged yet. */
  #due = 0
  #quiet: Promise<unknown> = Promise.resolve()
  #lastTry: Promise<void> = Promise.resolve()
  readonly #stopped = Promise.withResolvers<true>()

  /** `over` is called when a delete is purged, or is tried again only by the next loading. */
  constructor(ports: PurgePorts, context: ActorContext, over = () => {}) {
    this.#ports = ports
    this.#context = context
    this.#over = over
  }

  get underWay(): boolean {
    return this.#due > 0
  }

  /**
   * Resolves when the newest try to purge is over. A new thread of the same id waits for it,
   * because its row would hide the rest of this one. Rejects if the delete, or that try, failed.
   */
  get lastTry(): Promise<void> {
    return this.#lastTry
  }

  /** Tries once. Also called at loading: a member may have died between delete and purge. */
  async once(branch: Branch): Promise<void> {
    const { key: { tenant, id }, epoch } = this.#context
    // The rows of the runs name the traces, and go with the log.
    await removeTracesOf(this.#ports, tenant, id)
    await this.#ports.log.purge({ table: 'thread', tenant, id, branch, epoch })
  }

  /**
   * Purges once the delete is on disk. Resolves after the first try, whether it worked or not: the
   * thread is deleted by then. Rejects if the delete failed.
   */
  after(deleted: Promise<void>, branch: Branch): Promise<void> {
    this.#due += 1
    const first = this.#lastTry = deleted.then(() => this.once(branch))
    const done = deleted.then(() => this.#untilPurged(branch, first)).catch(() => {})
      .then(() => {
        this.#due -= 1
        this.#over()
      })
    this.#quiet = this.#quiet.then(() => done)
    return first.catch(() => deleted)
  }

  /** Stops trying. Resolves when no try is under way. */
  async stop(): Promise<void> {
    this.#stopped.resolve(true)
    await this.#quiet
  }

  async #untilPurged(branch: Branch, first: Promise<void>): Promise<void> {
    const { env } = this.#ports
    const backoff = new Backoff(env, pauses)
    for (let purged = first;; purged = this.#lastTry = this.once(branch)) {
      try {
        return await purged
      } catch (error) {
        env.log.warn('A deleted thread is not removed from the store yet.', {
          key: this.#context.key,
          error,
        })
        // Any other error does not pass by itself: the next loading of the thread tries again.
        if (HeddleError.from(error).code !== 'unavailable') return
      }
      if (await atLatest(env, backoff.nextMs(), this.#stopped.promise)) return
    }
  }
}

/** Ports with which the traces of removed runs are removed. */
export interface GoneRunsPorts extends Pick<ThreadPorts, 'runsGone'> {
  readonly runs: Pick<RunTable, 'list'>
}

/** Runs that are read at a time. */
const pageOf = 1_000

/**
 * Removes the traces of all runs of a deleted thread. Without `isAsked`, the thread expired: then
 * the traces of stateless runs are kept, because their threads always expire.
 */
export async function removeTracesOf({ runs, runsGone }: GoneRunsPorts, tenant: string,
  threadId: string, isAsked = false): Promise<void> {
  if (runsGone === undefined) return
  for (let offset = 0;; offset += pageOf) {
    const rows: RunRow[] = await runs.list({ tenant, threadId, limit: pageOf, offset,
      texts: ['planJson', 'metadataJson'] })
    const gone = isAsked ? rows : rows.filter((run) => !planOf(run).temporary)
    if (gone.length > 0) await runsGone(tenant, gone)
    if (rows.length < pageOf) return
  }
}
