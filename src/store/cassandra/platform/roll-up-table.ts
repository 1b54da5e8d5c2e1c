/** Roll-ups: statistics of an hour of a project, for a day or until a write touches the hour. */

import type { Hour, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { hourOf, hourUs, monthOf } from './rows/partition-key.ts'

/** Seconds that a roll-up lives. */
const livesS = 24 * 60 * 60
/** Bytes of a stored roll-up; larger ones are computed again each time. */
const bytesMax = 256 * 1024
/** Roll-ups that are read at a time. */
const page = 50
const deletesAtOnce = 8

/**
 * Time after the end of an hour in which it has no roll-up, so that a write into it needs not look
 * for one. The longer time is for who rolls up: clocks may differ, and writes take their time.
 */
const [settlingUs, settledUs] = [5 * 60e6, 10 * 60e6]

/** Writes, reads and deletes roll-ups. */
export class RollUpTable {
  readonly #connection: Connection
  readonly #env: Pick<Env, 'nowMs'>
  readonly #table: string

  constructor(connection: Connection, env: Pick<Env, 'nowMs'>) {
    this.#connection = connection
    this.#env = env
    this.#table = `${connection.keyspace}.rollup`
  }

  /** The roll-ups of hours from … to before …. */
  async find(tenant: string, project: Uuid, from: Hour,
    to: Hour): Promise<ReadonlyMap<Hour, Uint8Array>> {
    const found = new Map<Hour, Uint8Array>()
    for (let month = monthOf(from); month <= monthOf(to - 1); month++) {
      const statement = {
        cql: `SELECT hour, body FROM ${this.#table} ` +
          'WHERE tenant = ? AND project = ? AND month = ? AND hour >= ? AND hour < ?',
        values: [tenant, project, month, from, to],
      }
      for await (const rows of this.#connection.pages(statement, page)) {
        for (const row of rows) {
          const { hour, body } = row
          if (hour !== null && body !== null) found.set(hour, body)
        }
      }
    }
    return found
  }

  /** Keeps a roll-up with the time of its scan as timestamp, so that a later removal wins. */
  async put(
    { tenant, project, hour, body, scanBeganUs }: { readonly tenant: string; readonly project: Uuid;
      readonly hour: Hour; readonly body: Uint8Array; readonly scanBeganUs: number },
  ): Promise<void> {
    const settled = (hour + 1) * hourUs + settledUs <= scanBeganUs
    if (!settled || body.byteLength > bytesMax) return
    const timestampUs = Math.floor(Math.min(scanBeganUs, this.#env.nowMs() * 1_000))
    await this.#connection.write({
      cql: `UPDATE ${this.#table} USING TIMESTAMP ? AND TTL ? SET body = ? ` +
        'WHERE tenant = ? AND project = ? AND month = ? AND hour = ?',
      values: [BigInt(timestampUs), livesS, body, tenant, project, monthOf(hour), hour],
    })
  }

  /**
   * Removes the roll-ups of the hours of these spans. Call when they are written: a scan that did
   * not see them began before, and its roll-up is older than the removal.
   */
  async touch(places: readonly Pick<SpanPlace, 'tenant' | 'project' | 'startUs'>[]): Promise<void> {
    const nowUs = this.#env.nowMs() * 1_000
    const hours = new Map(places
      .map(({ tenant, project, startUs }) => ({ tenant, project, hour: hourOf(startUs) }))
      .filter(({ hour }) => (hour + 1) * hourUs + settlingUs <= nowUs)
      .map((each) => [JSON.stringify(each), each]))
    await forEachLimit(deletesAtOnce, hours.values(), async ({ tenant, project, hour }) => {
      await this.#connection.write({
        cql: `DELETE FROM ${this.#table} ` +
          'WHERE tenant = ? AND project = ? AND month = ? AND hour = ?',
        values: [tenant, project, monthOf(hour), hour],
      })
    })
  }
}
