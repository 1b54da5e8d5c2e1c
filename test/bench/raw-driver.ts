/** The bare driver of Cassandra, as a lower bound for the cost of a store on it. */

import { Client, types } from 'cassandra-driver'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'

const prepared = { prepare: true, consistency: types.consistencies.localQuorum }

/** Writes to a table with the key of the log and a body; reads a row by its key. */
export class RawDriver {
  readonly #client: Client
  readonly #insert: string
  readonly #select: string

  /** Opens a keyspace of its own, with as many replicas as the given one. */
  static async open(
    { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
  ): Promise<RawDriver> {
    const client = new Client({
      contactPoints: [...contactPoints],
      localDataCenter: dataCenter,
      encoding: { useBigIntAsLong: true },
    })
    await client.connect()
    const replicas = Math.min(3, client.hosts.length)
    await client.execute(`CREATE KEYSPACE IF NOT EXISTS ${rawKeyspaceOf(keyspace)} WITH replication
      = {'class': 'NetworkTopologyStrategy', '${dataCenter}': ${replicas}}`)
    await client.execute(`CREATE TABLE IF NOT EXISTS ${rawKeyspaceOf(keyspace)}.log (
      branch_id uuid, bucket int, epoch bigint, seq bigint, body blob,
      PRIMARY KEY ((branch_id, bucket), epoch, seq))
      WITH CLUSTERING ORDER BY (epoch DESC, seq DESC)`)
    return new RawDriver(client, keyspace)
  }

  private constructor(client: Client, keyspace: string) {
    this.#client = client
    this.#insert = `INSERT INTO ${rawKeyspaceOf(keyspace)}.log
      (branch_id, bucket, epoch, seq, body) VALUES (?, 0, 1, ?, ?)`
    this.#select = `SELECT state FROM ${keyspace}_control.node_session WHERE session = ?`
  }

  /** Resolves when it is on a quorum. */
  async write(branchId: string, seq: number, body: Uint8Array): Promise<void> {
    await this.#client.execute(this.#insert, [branchId, BigInt(seq), body], prepared)
  }

  /** The row of a session, by its key, from a quorum. */
  async readSession(session: string): Promise<void> {
    const { rows } = await this.#client.execute(this.#select, [session], prepared)
    if (rows.length !== 1) throw new Error('the session is not there')
  }

  async close(): Promise<void> {
    await this.#client.shutdown()
  }
}

export function rawKeyspaceOf(keyspace: string): string {
  return `${keyspace}_raw`
}
