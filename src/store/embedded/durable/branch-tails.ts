/**
 * What the main thread knows of the log's branches: enough to tell of most writes that the writer
 * thread will not refuse them.
 */

import type { NewRow } from '../../../checkpoint/index.ts'
import { Recent } from '../../recent.ts'
import { follows } from '../log/log-table.ts'
import type { Tail } from '../log/log-table.ts'
import type { Write } from '../requests/write.ts'

const tailsKept = 20_000

/** Of a branch without rows. */
const newTail: Tail = { no: undefined, dead: false, epoch: 0, seq: 0 }

/** What is committed, as far as it matters here. */
export interface KnownBranches {
  hasBranch(id: string): boolean
}

export class BranchTails {
  readonly #tails = new Recent<string, Tail>(tailsKept)
  readonly #lookup: KnownBranches

  constructor(lookup: KnownBranches) {
    this.#lookup = lookup
  }

  /** A branch that has no rows, because its id was just made. */
  expect(id: string): void {
    this.#tails.set(id, newTail)
  }

  /**
   * Whether it is an append that cannot be refused. To be asked when no write is under way but
   * those that are noted.
   */
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

  /** The write is done, or certainly will be. */
  note(write: Write): void {
    if (write.kind === 'purge') this.#tails.delete(write.subject.branch.id)
    if (write.kind !== 'append') return
    for (const row of write.rows) this.#tails.set(row.branch.id, tailAt(row))
  }

  /** Of a branch that has no rows. Of a copy, none follow it: their numbers begin later. */
  #newTail({ branch }: NewRow): Tail | undefined {
    try {
      return this.#lookup.hasBranch(branch.id) ? undefined : newTail
    } catch {
      // The writer thread will meet the same, and say it to whoever asks.
      return undefined
    }
  }
}

function tailAt({ epoch, seq }: NewRow): Tail {
  return { ...newTail, epoch, seq }
}
