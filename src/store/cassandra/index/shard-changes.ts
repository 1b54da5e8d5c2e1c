/** Changes to the rows of a shard while they are being read. They win over what was read. */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { EncodedRow } from '../../embedded/index.ts'
import { decoded, encoded, idOf, ownedKey } from './owned-row.ts'
import type { OwnedRow, OwnedTable, OwnedUpdate } from './owned-row.ts'

/** The changes since the read of one shard began. */
export class ShardChanges {
  /** By key: what was put last, unless it was removed since. */
  readonly #puts = new Map<string, OwnedUpdate>()
  /** By key: everything that was removed, of any branch. */
  readonly #removals = new Map<string, PurgeSubject[]>()
  /** Keys that changed after `merged`. */
  readonly #late = new Set<string>()

  put(update: OwnedUpdate): void {
    const key = ownedKey(update.table, update.row.tenant, idOf(update.row))
    this.#puts.set(key, update)
    this.#late.add(key)
  }

  /** Notes a removal. A row that was made again has another branch and stays. */
  remove(subject: PurgeSubject): void {
    const { table, tenant, id, branch } = subject
    const key = ownedKey(table, tenant, id)
    this.#removals.set(key, [...this.#removals.get(key) ?? [], subject])
    if (branchOf(this.#puts.get(key)?.row) === branch.id) this.#puts.delete(key)
    this.#late.add(key)
  }

  /** The row as it was put; undefined if it was not put. */
  rowOf(table: OwnedTable, tenant: string, id: string): OwnedRow | undefined {
    return this.#puts.get(ownedKey(table, tenant, id))?.row
  }

  /** True if this very row was removed. */
  hasRemoved(table: OwnedTable, row: OwnedRow): boolean {
    const removals = this.#removals.get(ownedKey(table, row.tenant, idOf(row))) ?? []
    return removals.some(({ branch }) => branch.id === branchOf(row))
  }

  /**
   * The rows that were read, with the changes so far. Of two rows of one thing the later one wins.
   */
  merged(read: readonly EncodedRow[]): EncodedRow[] {
    this.#late.clear()
    const left = this.#removals.size === 0
      ? read
      : read.filter(({ table, body }) => !this.hasRemoved(table, decoded(table, body)))
    const put = [...this.#puts.values()].map((update) => ({ table: update.table,
      body: encoded(update) })
    )
    return [...left, ...put]
  }

  /** The changes after `merged`. Removals must be applied first. */
  late(): { readonly removals: readonly PurgeSubject[]; readonly puts: readonly OwnedUpdate[] } {
    const keys = [...this.#late]
    return {
      removals: keys.flatMap((key) => this.#removals.get(key) ?? []),
      puts: keys.flatMap((key) => this.#puts.get(key) ?? []),
    }
  }
}

/** Items have no branch, and are never removed while their shard is being read. */
function branchOf(row: OwnedRow | undefined): string | undefined {
  return row && 'branch' in row ? row.branch?.id : undefined
}
