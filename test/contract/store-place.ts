/** Where a contract suite finds a store: a place that can be opened, closed and opened again. */

import type { LogPort } from '../../src/checkpoint/index.ts'
import type { AssistantIndex, RunTable, ThreadIndex } from '../../src/records/index.ts'

export interface OpenStore {
  readonly log: LogPort
  readonly threads: ThreadIndex
  readonly runs: RunTable
  readonly assistants: AssistantIndex
  claimEpoch(): Promise<number>
  close(): Promise<void>
}

export interface StorePlace {
  /** Opens what the last one left behind; that one is closed. */
  open(): Promise<OpenStore>
  /** Removes everything; the last store is closed. */
  remove(): Promise<void>
}

export type MakePlace = () => StorePlace
