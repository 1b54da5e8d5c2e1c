/** Where a contract suite finds a store: a place that can be opened, closed and opened again. */

import { afterAll, beforeAll } from 'vitest'

import type { KeyTable } from '../../src/access/index.ts'
import type { BillingTable } from '../../src/billing/index.ts'
import type { LogPort } from '../../src/checkpoint/index.ts'
import type { LimitTable, TenantUse } from '../../src/limits/index.ts'
import type { AssistantIndex, CronIndex, DueCrons, DueThreads, ItemIndex, RunTable, ThreadIndex,
  UnfinishedThread } from '../../src/search/index.ts'

export interface OpenStore {
  readonly log: LogPort
  readonly threads: ThreadIndex
  readonly runs: RunTable
  readonly assistants: AssistantIndex
  readonly crons: CronIndex
  readonly items: ItemIndex
  readonly keys: KeyTable
  readonly limits: LimitTable
  readonly billing: BillingTable
  use(tenant: string): Promise<TenantUse>
  readonly due: DueThreads
  readonly dueCrons: DueCrons
  /** Threads that the previous life left unfinished, as of the start of this one. */
  unfinished(): Promise<readonly UnfinishedThread[]>
  claimEpoch(): Promise<number>
  close(): Promise<void>
}

export interface StorePlace {
  /** Opens what the last store left behind; that one must be closed. */
  open(): Promise<OpenStore>
  /** Removes everything; the last store must be closed. */
  remove(): Promise<void>
}

export type MakePlace = () => StorePlace

/**
 * One place for several suites that do not reopen it: opening one takes longer than most of them.
 * Call it in the `describe` or the file around them, after which it is removed.
 */
export function sharePlace(makePlace: MakePlace): MakePlace {
  let place: StorePlace | undefined
  let opened: Promise<OpenStore> | undefined
  afterAll(async () => {
    await (await opened)?.close()
    await place?.remove()
  })
  const keep = async () => {}
  const open = async () => {
    opened ??= (place = makePlace()).open()
    return { ...await opened, close: keep }
  }
  return () => ({ open, remove: keep })
}

/** One store for all tests of a suite: opened before the first of them, removed after the last. */
export function useStore(makePlace: MakePlace): OpenStore {
  let place: StorePlace
  let open: OpenStore
  beforeAll(async () => {
    place = makePlace()
    open = await place.open()
  })
  afterAll(async () => {
    await open.close()
    await place.remove()
  })
  return {
    get log() {
      return open.log
    },
    get threads() {
      return open.threads
    },
    get runs() {
      return open.runs
    },
    get assistants() {
      return open.assistants
    },
    get crons() {
      return open.crons
    },
    get items() {
      return open.items
    },
    get keys() {
      return open.keys
    },
    get limits() {
      return open.limits
    },
    get billing() {
      return open.billing
    },
    use: (tenant) => open.use(tenant),
    due: (after, limit) => open.due(after, limit),
    dueCrons: (after, limit, nowMs) => open.dueCrons(after, limit, nowMs),
    unfinished: () => open.unfinished(),
    claimEpoch: () => open.claimEpoch(),
    close: () => open.close(),
  }
}
