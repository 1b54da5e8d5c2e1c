/** Data with which a thread of the platform starts. */

import type { MessagePort } from 'node:worker_threads'

/** The module of a store, and the plain data that it opens with. */
export interface SpanStorePlace {
  /** URL of a module with the exports of `SpanStoreModule`. */
  readonly module: string
  readonly options: unknown
}

/** The worker data of a thread. */
export interface ThreadStart {
  readonly store: SpanStorePlace
  /** The calls that the thread answers. */
  readonly calls: MessagePort
  /** The calls that the thread makes; null if it makes none. */
  readonly needs: MessagePort | null
}
