/** Commit by compare-and-set: Cassandra itself refuses the rows of former owners. */

import { HeddleError } from '../../../errors.ts'
import { AmbiguousSwap } from '../driver/connection.ts'
import type { Connection, Row, Statement } from '../driver/connection.ts'
import type { CheckpointTable } from './checkpoint-table.ts'
import type { Commit, Handover, Patience } from './commit.ts'
import type { BranchEnd } from './log-reader.ts'
import { RowInsert } from './log-row.ts'
import type { OutgoingRow, Partition } from './log-row.ts'
import type { StatingRow } from './place-index-row.ts'

/** Head of a partition: the epoch that may write to it, and its newest row. */
interface Head {
  readonly epoch: number
  readonly seq: number
}

/**
 * Gives each partition a head: the newest epoch and its newest row. A row is written together with
 * the head, on condition that the head is the row before it. A new epoch first takes over the heads
 * of the bucket in which the log ends and of the next one, so that an older owner can write to
 * neither. This needs no ownership check, but only one row of a branch may be in flight.
 */
export class LwtCommit implements Commit {
  readonly inFlight = 1
  readonly #connection: Connection
  readonly #checkpoints: CheckpointTable
  readonly #patience: Patience
  readonly #table: string
  readonly #insert: RowInsert

  constructor(
    { connection, checkpoints, patience }: { readonly connection: Connection;
      readonly checkpoints: CheckpointTable; readonly patience: Patience },
  ) {
    this.#connection = connection
    this.#checkpoints = checkpoints
    this.#patience = patience
    this.#table = `${connection.keyspace}.log`
    this.#insert = new RowInsert(this.#table)
  }

  /** Places may be unconfirmed if the previous owner used plain writes. */
  async open(branchId: string, { tail, places }: BranchEnd, epoch: number): Promise<boolean> {
    const { seq, bucket } = tail
    return await this.#take({ branchId, epoch, seq, bucket }, places.unconfirmed) &&
      this.#take({ branchId, epoch, seq, bucket: bucket + 1 })
  }

  async rollOver(handover: Handover): Promise<void> {
    while (!await this.#take(handover)) await this.#rest()
  }

  async write(row: OutgoingRow): Promise<void> {
    const { epoch, seq } = row
    // The very first row has no row before it in this partition, and no owner to take over from.
    const [first, ...others] = row.ranges ?? []
    const isFirst = first?.from === seq && others.length === 0
    const before = isFirst ? undefined : { epoch, seq: seq - 1 }
    const places = this.#checkpoints.statements(row, row.carried)
    const statements = [this.#insert.conditional(row), ...places, this.#moveHead(row, before, row)]
    for (let ambiguous = false;; ambiguous = true) {
      const outcome = await this.#attempt(statements, ambiguous)
      const head = outcome && headOf(outcome.row)
      if (outcome?.applied || (ambiguous && head?.epoch === epoch && head.seq === seq)) return
      if (outcome) throw stale(head, ambiguous)
      await this.#rest()
    }
  }

  /** False if it cannot be decided now, because the partition's head has moved or may have. */
  async #take({ branchId, bucket, epoch, seq }: Handover,
    places: readonly StatingRow[] = []): Promise<boolean> {
    const head = await this.#read({ branchId, bucket })
    if (head && head.epoch > epoch) throw stale(head, false)
    if (head && head.seq > seq) return false
    if (head?.epoch === epoch && head.seq === seq) return true
    const partition = { branchId, bucket }
    const outcome = await this.#attempt([...this.#checkpoints.statements(partition, places),
      this.#moveHead(partition, head, { epoch, seq })], false)
    return outcome?.applied === true
  }

  /** Undefined if the outcome is not known. */
  async #attempt(statements: readonly Statement[],
    again: boolean): Promise<{ applied: boolean; row: Row | undefined } | undefined> {
    try {
      return await this.#connection.swap(statements)
    } catch (error) {
      if (error instanceof AmbiguousSwap || again) return undefined
      throw error
    }
  }

  async #read({ branchId, bucket }: Partition): Promise<Head | undefined> {
    const cql = `SELECT head_epoch, head_seq FROM ${this.#table}
      WHERE branch_id = ? AND bucket = ? LIMIT 1`
    const [row] = await this.#connection.read({ cql, values: [branchId, bucket] })
    return headOf(row)
  }

  #moveHead({ branchId, bucket }: Partition, from: Head | undefined, to: Head): Statement {
    return {
      cql: `UPDATE ${this.#table} SET head_epoch = ?, head_seq = ?
        WHERE branch_id = ? AND bucket = ? IF head_epoch = ? AND head_seq = ?`,
      values: [BigInt(to.epoch), BigInt(to.seq), branchId, bucket, from ? BigInt(from.epoch) : null,
        from ? BigInt(from.seq) : null],
    }
  }

  async #rest(): Promise<void> {
    if (this.#patience.ended) {
      throw new HeddleError('unavailable', undefined, { ambiguous: true })
    }
    await this.#patience.pause()
  }
}

function headOf(row: Row | undefined): Head | undefined {
  if (row?.head_epoch == null) return undefined
  return { epoch: Number(row.head_epoch), seq: Number(row.head_seq) }
}

/**
 * The error for a row that came too late. If `ambiguous`, it may have been written before the newer
 * epoch came.
 */
function stale(head: Head | undefined, ambiguous: boolean): HeddleError {
  return new HeddleError('stale_append', undefined, { ...head, ...ambiguous && { ambiguous } })
}
