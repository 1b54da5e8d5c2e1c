/** Heartbeats of all members: plain rows of one partition, which expire by themselves. */

import type { Heartbeat, HeartbeatPort } from '../../../../cluster/index.ts'
import type { Connection } from '../driver/connection.ts'

/** All members of a keyspace are of one cluster. */
const cluster = 0

/** Heartbeats, as the cluster needs them. */
export class HeartbeatTable implements HeartbeatPort {
  readonly #connection: Pick<Connection, 'control' | 'read' | 'write'>
  readonly #table: string

  constructor(connection: Pick<Connection, 'control' | 'read' | 'write'>) {
    this.#connection = connection
    this.#table = `${connection.control}.member_beat`
  }

  async heartbeat({ id, address, count, leaving }: Heartbeat): Promise<void> {
    await this.#connection.write({
      cql: `INSERT INTO ${this.#table} (cluster, session, count, leaving, address) ` +
        'VALUES (?, ?, ?, ?, ?)',
      values: [cluster, id, BigInt(count), leaving, address],
    })
  }

  async heartbeats(): Promise<readonly Heartbeat[]> {
    const cql = `SELECT session, count, leaving, address FROM ${this.#table} WHERE cluster = ?`
    const rows = await this.#connection.read({ cql, values: [cluster] })
    return rows.map((row) => ({
      id: String(row['session']),
      address: row['address'],
      count: Number(row['count']),
      leaving: row['leaving'] === true,
    }))
  }

  async forget(member: string): Promise<void> {
    const cql = `DELETE FROM ${this.#table} WHERE cluster = ? AND session = ?`
    await this.#connection.write({ cql, values: [cluster, member] })
  }
}
