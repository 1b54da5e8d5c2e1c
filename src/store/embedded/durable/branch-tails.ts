/**
 * Tails of the log's branches, as far as the main thread knows them. It is enough to tell, for most
 * writes, that the writer thread will not refuse them.
 */

import { LRUCache } from '../../../../cluster/index.ts'
import type { NewRow } from '../../../checkpoint/index.ts'
import { follows } from '../log/log-table.ts'
import type { Tail } from '../log/log-table.ts'
import type { Write } from '../requests/write.ts'

const tailsKept = 20_000

/** Tail of a branch without rows. */
const newTail: Tail = { no: undefined, dead: false, epoch: 0, seq: 0 }

/** Committed branches of the database. */
export interface KnownBranches {
  hasBranch(id: string): boolean
}

/** Tells which appends cannot be refused. */
export class BranchTails {
  readonly #tails = new LRUCache<string, Tail>({ max: tailsKept })
  readonly #lookup: KnownBranches

  constructor(lookup: KnownBranches) {
    this.#lookup = lookup
  }

  /** Notes a branch without rows, whose id was just made. */
  expect(id: string): void {
    this.#tails.set(id, newTail)
  }

  /** True for an append that cannot be refused. Ask only while every write in progress is noted. */
  takes(write: Write): boolean {
    if (write.kind !== 'append' || write.rows.length === 0) return false
    const tails = new Map<string, Tail>()
    return write.rows.every((row) => {
      const { id } = row.branch
      const tail = tails.get(id) ?? this.#tails.get(id) ?? this.#newTail(row)
      tails.set(id, tailAt(row))
      return tail !== undefined && follows(tail, row)
    })
  }

  /** Notes a write that is done, or certainly will be. */
  note(write: Write): void {
    if (write.kind === 'purge') this.#tails.delete(write.subject.branch.id)
    if (write.kind !== 'append') return
    for (const row of write.rows) this.#tails.set(row.branch.id, tailAt(row))
  }

  /**
   * The tail of a branch without rows; undefined for others. No append to a copy follows it, as the
   * numbers of a copy begin later.
   */
  #newTail({ branch }: NewRow): Tail | undefined {
    try {
      return this.#lookup.hasBranch(branch.id) ? undefined : newTail
    } catch {
      // The writer thread will meet the same error, and report it to its caller.
      return undefined
    }
  }
}

function tailAt({ epoch, seq }: NewRow): Tail {
  return { ...newTail, epoch, seq }
}
