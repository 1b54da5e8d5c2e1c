/** What branches grew from, and who still needs their rows. Rule: [copies_noted]. */

import type { Branch } from '../../../../proto/gen/storage/v1/row.ts'
import { segmentsOf } from '../../../checkpoint/index.ts'
import type { NewRow } from '../../../checkpoint/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { WriteTimestamp } from './write-timestamp.ts'

/** What may be removed of a branch: its rows after `after`. */
export interface Cut {
  readonly branchId: string
  readonly after: number
}

/**
 * A branch names every ancestor whose rows it needs, not only the nearest. So what is needed of a
 * dead branch is known from the living ones alone. A copy first says what it needs and then looks
 * whether its source is dead; a source is first marked dead and then looks who needs it. So one of
 * them sees the other.
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

  /** Whether the branch's owner was deleted. */
  async isDead(branchId: string): Promise<boolean> {
    const [row] = await this.#connection.read({
      cql: `SELECT dead FROM ${this.#branches} WHERE branch_id = ?`,
      values: [branchId],
    })
    return row?.['dead'] === true
  }

  /**
   * Notes what a copy needs, before its first row. False if its source is gone, or may be in a
   * moment.
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

  /** Releases a branch whose owner is gone; returns what no branch needs any more. */
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
    return [own, ...others.flat()]
  }

  /**
   * Nothing of the branch is left, so that no copy can grow from it. Another owner may have set its
   * mark, and the ranks of two owners do not tell which came first.
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
