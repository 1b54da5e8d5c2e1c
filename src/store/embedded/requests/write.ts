/** Changes that the writer thread is asked to make. */

import type { BillingRow } from '../../../billing/index.ts'
import type { BranchSubject, NewRow, PurgeSubject } from '../../../checkpoint/index.ts'
import type { AssistantEntry } from '../tables/assistant-table.ts'
import type { CronEntry } from '../tables/cron-table.ts'
import type { ItemEntry } from '../tables/item-table.ts'
import type { KeyChange } from '../tables/key-table.ts'
import type { LimitEntry } from '../tables/limit-table.ts'
import type { RunEntry } from '../tables/run-table.ts'
import type { ThreadEntry } from '../tables/thread-table.ts'

/** A row that changes together with the log, as its table takes it. */
export type EntryUpdate =
  | { readonly table: 'thread'; readonly entry: ThreadEntry }
  | { readonly table: 'run'; readonly entry: RunEntry }
  | { readonly table: 'assistant'; readonly entry: AssistantEntry }
  | { readonly table: 'cron'; readonly entry: CronEntry }
  | { readonly table: 'item'; readonly entry: ItemEntry }
  | { readonly table: 'item_removed'; readonly tenant: string; readonly id: string }
  | { readonly table: 'billing'; readonly row: BillingRow }
  | { readonly table: 'run_removed'; readonly tenant: string; readonly threadId: string;
    readonly runId: string }

/** Tables that can be searched. */
export type SearchedTable = 'thread' | 'assistant' | 'cron' | 'item'

/** A row as Cassandra keeps it: its body is the encoded message with everything. */
export interface EncodedRow {
  readonly table: SearchedTable
  readonly body: Uint8Array
}

/** A change. Changes are done in the order of asking, but loads and unloads after all others. */
export type Write =
  | { readonly kind: 'append'; readonly rows: readonly NewRow[];
    readonly updates: readonly EntryUpdate[] }
  /** All rows of a shard. The writer thread decodes them. They are not found yet. */
  | { readonly kind: 'load'; readonly shard: number; readonly rows: readonly EncodedRow[] }
  /** `cover` and `uncover` decide whether rows of a shard are found. `unload` removes them. */
  | { readonly kind: 'cover' | 'uncover' | 'unload'; readonly shard: number }
  | { readonly kind: 'key'; readonly change: KeyChange }
  | { readonly kind: 'admit'; readonly entry: LimitEntry }
  | { readonly kind: 'purge'; readonly subject: PurgeSubject | BranchSubject }

/** True if the write changes the row of the thread, of one of its runs, or of the item. */
export function concerns(write: Write, tenant: string, id: string): boolean {
  if (write.kind !== 'append') return false
  return write.updates.some((update) => {
    if (update.table === 'item_removed') return update.tenant === tenant && update.id === id
    if (update.table === 'item') {
      return update.entry.tenant === tenant && update.entry.itemId === id
    }
    if (update.table !== 'thread' && update.table !== 'run' && update.table !== 'run_removed') {
      return false
    }
    const row = update.table === 'run_removed' ? update : update.entry
    return row.tenant === tenant && row.threadId === id
  })
}
