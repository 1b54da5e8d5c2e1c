/** A live run that components subscribe to by slices: what one does not show, renders it not. */

import { useSyncExternalStore } from 'react'

import type { LiveRun } from './live-run.ts'

/** State of the runs of a thread that this page follows. */
export interface LiveState {
  /** The run that is followed, or was until just now. */
  readonly run: LiveRun | undefined
  /** The connection broke, and is made again. */
  readonly away: boolean
  /** Grows when the thread has new steps, or another status. */
  readonly version: number
}

/** A store of it. Listeners hear of changes at most once a frame. */
export class LiveStore {
  #state: LiveState = { run: undefined, away: false, version: 0 }
  #isDue = false
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): () => void => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): LiveState => this.#state

  set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change }
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(this.#notify)
  }

  readonly #notify = () => {
    this.#isDue = false
    for (const listener of this.#listeners) listener()
  }
}

/** A slice of a store. It must be the same value as long as nothing of it has changed. */
export function useLive<Slice>(store: LiveStore, slice: (state: LiveState) => Slice): Slice {
  return useSyncExternalStore(store.subscribe, () => slice(store.state()))
}
