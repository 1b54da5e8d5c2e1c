/** Owners of the shards: one row each in the control keyspace, changed by compare-and-set only. */

import type { ClaimChange, ClaimOutcome, ShardClaim, ShardPort } from '../../../../cluster/index.ts'
import { AmbiguousSwap } from '../driver/connection.ts'
import type { Row, Statement } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { ControlConnection } from './session-table.ts'

const readsAtOnce = 32

/** Claims of shards, as the cluster needs them. */
export class ShardTable implements ShardPort {
  readonly #connection: ControlConnection
  readonly #table: string
  readonly #shards: number

  constructor(connection: ControlConnection, shards: number) {
    this.#connection = connection
    this.#shards = shards
    this.#table = `${connection.control}.shard_owner`
  }

  /**
   * All owners. Rows are read one by one: a read of the whole table would wait for a replica that
   * does not answer.
   */
  async owners(): Promise<readonly ShardClaim[]> {
    const owners: ShardClaim[] = []
    await forEachLimit(readsAtOnce, Array(this.#shards).keys(), async (shard) => {
      const owner = await this.owner(shard)
      if (owner) owners.push(owner)
    })
    return owners
  }

  async owner(shard: number): Promise<ShardClaim | undefined> {
    const cql = `SELECT epoch, session, address FROM ${this.#table} WHERE shard = ?`
    const [row] = await this.#connection.read({ cql, values: [shard] })
    return row && ownerIn(row, shard)
  }

  async claim(claim: ClaimChange): Promise<ClaimOutcome> {
    try {
      const { applied, row } = await this.#connection.swap(this.#statement(claim))
      if (applied) return { kind: 'claimed' }
      return { kind: 'refused', found: row && ownerIn(row, claim.to.shard) }
    } catch (error) {
      if (error instanceof AmbiguousSwap) return { kind: 'unknown', cause: error }
      throw error
    }
  }

  /** All known columns are conditions. If one fails, Cassandra returns what they really are. */
  #statement({ from, to: { shard, epoch, session, address } }: ClaimChange): Statement {
    if (from === undefined) {
      const cql = `INSERT INTO ${this.#table} (shard, epoch, session, address) ` +
        'VALUES (?, ?, ?, ?) IF NOT EXISTS'
      return { cql, values: [shard, BigInt(epoch), session, address] }
    }
    const cql = `UPDATE ${this.#table} SET epoch = ?, session = ?, address = ? ` +
      'WHERE shard = ? IF epoch = ? AND session = ? AND address = ?'
    const known = [BigInt(from.epoch), from.session, from.address]
    return { cql, values: [BigInt(epoch), session, address, shard, ...known] }
  }
}

function ownerIn(row: Row, shard: number): ShardClaim {
  const session = row['session']
  return {
    shard,
    epoch: Number(row['epoch']),
    session: session === null ? null : session.toString(),
    address: row['address'],
  }
}
