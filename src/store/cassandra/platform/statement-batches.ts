/** Statements of one request, grouped so that each group changes one partition. */

import type { Connection, Statement } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'

/** Bytes and statements from which on a partition gets another batch. */
const [bytesMax, statementsMax] = [1024 * 1024, 500]

/** Batches of one request that are in flight. */
const atOnce = 16

interface Batch {
  bytes: number
  readonly statements: Statement[]
}

/** Collects statements and writes them, one batch for each partition unless it is large. */
export class StatementBatches {
  readonly #batches: Batch[] = []
  readonly #open = new Map<string, Batch>()

  /** Adds a statement that changes the partition with this name and has about so many bytes. */
  add(partition: string, statement: Statement, bytes: number): void {
    const open = this.#open.get(partition)
    const fits = open !== undefined && open.bytes + bytes <= bytesMax &&
      open.statements.length < statementsMax
    const batch = fits ? open : { bytes: 0, statements: [] }
    if (!fits) {
      this.#batches.push(batch)
      this.#open.set(partition, batch)
    }
    batch.bytes += bytes
    batch.statements.push(statement)
  }

  /** Resolves when all are on a quorum. Throws as `repeatableBatch` does. */
  async write(connection: Pick<Connection, 'repeatableBatch'>): Promise<void> {
    await forEachLimit(atOnce, this.#batches,
      ({ statements }) => connection.repeatableBatch(statements))
  }
}
