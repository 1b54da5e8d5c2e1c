/** The memory that all graph processes of a member may have. A start that finds none left waits. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

/** Amount of memory, and a way to free some of it. */
export interface ProcessMemoryOptions {
  readonly totalMb: number
  readonly env: Pick<Env, 'after'>
  /** Ends an idle process, if there is one and none is ending. Its memory is given back later. */
  readonly endIdle: () => void
}

interface Waiter {
  readonly mb: number
  readonly entered: PromiseWithResolvers<() => void>
}

/** Milliseconds to wait for memory, within which other work may end. */
const waitMs = 30_000

/** Each process has its limit reserved: together they never fill more than there is. */
export class ProcessMemory {
  readonly #options: ProcessMemoryOptions
  /** Starts that wait, in order of arrival: a large process is not passed over for ever. */
  readonly #waiting = new Set<Waiter>()
  #usedMb = 0

  constructor(options: ProcessMemoryOptions) {
    this.#options = options
  }

  /**
   * Resolves with a function that gives the memory back. Throws `full` if nothing became free in
   * time, and `graph_failed` for more than the member has.
   */
  async reserve(mb: number): Promise<() => void> {
    const { totalMb, env } = this.#options
    if (mb > totalMb) {
      throw new HeddleError('graph_failed', `The deployment may fill ${mb} MB, and all graph ` +
        `processes of a member together ${totalMb}: lower its limits.memory_mb.`)
    }
    const waiter: Waiter = { mb, entered: Promise.withResolvers() }
    this.#waiting.add(waiter)
    this.pump()
    const release = await atLatest(env, waitMs, waiter.entered.promise)
    if (release) return release
    // It may have entered at the last moment.
    if (!this.#waiting.delete(waiter)) return await waiter.entered.promise
    this.pump()
    throw new HeddleError('full',
      `The graph processes of this member fill their ${totalMb} MB, and all of them have work.`)
  }

  /** Call when a process may have become idle. */
  pump(): void {
    for (const waiter of this.#waiting) {
      if (this.#usedMb + waiter.mb > this.#options.totalMb) {
        this.#options.endIdle()
        return
      }
      this.#waiting.delete(waiter)
      this.#usedMb += waiter.mb
      waiter.entered.resolve(this.#releaseOf(waiter.mb))
    }
  }

  #releaseOf(mb: number): () => void {
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#usedMb -= mb
      this.pump()
    }
  }
}
