/** Ancestors of branches, and the branches that need their rows. Rule: [copies_noted]. */

import type { Branch } from '../../../../proto/gen/storage/v1/row.ts'
import { segmentsOf } from '../../../checkpoint/index.ts'
import type { NewRow } from '../../../checkpoint/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { WriteTimestamp } from './write-timestamp.ts'

/** Removable part of a branch: its rows after `after`. */
export interface Cut {
  readonly branchId: string
  readonly after: number
}

/**
 * Notes what branches need of each other. A branch names every ancestor whose rows it needs, not
 * only the nearest, so the living branches alone tell what is needed of a dead one. A copy first
 * notes what it needs and then looks whether its source is dead. A source is first marked dead and
 * then looks for copies. So one of them sees the other.
 */
export class BranchTable {
  readonly #connection: Connection
  readonly #timestamp: WriteTimestamp
  readonly #branches: string
  readonly #needs: string

  constructor(connection: Connection, rank: WriteTimestamp) {
    this.#connection = connection
    this.#timestamp = rank
    this.#branches = `${connection.keyspace}.branch`
    this.#needs = `${connection.keyspace}.branch_need`
  }

  /** True if the branch's owner was deleted. */
  async isDead(branchId: string): Promise<boolean> {
    const [row] = await this.#connection.read({
      cql: `SELECT dead FROM ${this.#branches} WHERE branch_id = ?`,
      values: [branchId],
    })
    return row?.['dead'] === true
  }

  /**
   * Notes what a copy needs, before its first row. False if its source is deleted, or is being
   * deleted.
   */
  async noteCopy({ branch, epoch }: NewRow): Promise<boolean> {
    const rank = this.#timestamp.next(epoch)
    await Promise.all(ancestorsOf(branch).map(({ id, through }) =>
      this.#connection.write({
        cql: `INSERT INTO ${this.#needs} (ancestor, branch, through) VALUES (?, ?, ?) ` +
          'USING TIMESTAMP ?',
        values: [id, branch.id, BigInt(through), rank],
      })
    ))
    return !await this.isDead(branch.ancestors.at(-1)!.id)
  }

  /**
   * Releases a branch whose owner was deleted. Returns what no branch needs any more. The branch
   * itself comes last: until it is forgotten, its mark says that something may be left of others.
   */
  async release(branch: Branch, epoch: number): Promise<Cut[]> {
    await this.#connection.write({
      cql: `INSERT INTO ${this.#branches} (branch_id, dead) VALUES (?, true) USING TIMESTAMP ?`,
      values: [branch.id, this.#timestamp.next(epoch)],
    })
    await this.#needNothing(branch, epoch)
    const own = { branchId: branch.id, after: await this.#neededThrough(branch.id) }
    const others = await Promise.all(
      ancestorsOf(branch).map(async (
        { id },
      ) => (await this.isDead(id) ? [{ branchId: id, after: await this.#neededThrough(id) }] : [])),
    )
    return [...others.flat(), own]
  }

  /**
   * Removes the mark of a branch without rows, from which no copy can grow. Its timestamp is above
   * all others: another owner may have set the mark, and timestamps of two owners do not tell which
   * came first.
   */
  async forget(branchId: string): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#branches} USING TIMESTAMP ? WHERE branch_id = ?`,
      values: [this.#timestamp.last(), branchId],
    })
  }

  async #needNothing(branch: Branch, epoch: number): Promise<void> {
    const rank = this.#timestamp.next(epoch)
    await Promise.all(ancestorsOf(branch).map(({ id }) =>
      this.#connection.write({
        cql: `DELETE FROM ${this.#needs} USING TIMESTAMP ? WHERE ancestor = ? AND branch = ?`,
        values: [rank, id, branch.id],
      })
    ))
  }

  async #neededThrough(branchId: string): Promise<number> {
    const [row] = await this.#connection.read({
      cql: `SELECT max(through) AS through FROM ${this.#needs} WHERE ancestor = ?`,
      values: [branchId],
    })
    return Number(row?.['through'] ?? 0)
  }
}

function ancestorsOf(branch: Branch): readonly { id: string; through: number }[] {
  return segmentsOf(branch).filter(({ id }) => id !== branch.id)
}
