/** Lets one member at a time change the schema: a lock in the control keyspace that expires. */

import { hash } from 'node:crypto'

import { Backoff } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { AmbiguousSwap } from '../driver/connection.ts'
import type { Connection, Statement } from '../driver/connection.ts'
import { reads } from './migration.ts'

/** Seconds. Longer than any single statement takes. */
const lockS = 60
const pauses = { firstMs: 250, longestMs: 250 }
/** Time after which the holder of the lock has finished, or the lock has expired. */
const patienceMs = 3 * lockS * 1_000

/** True if a statement was applied, undefined if perhaps; otherwise the holder of the lock. */
type Found = true | string | undefined

/** The lock of one member's attempt to change the schema. */
export class SchemaLock {
  readonly #connection: Connection
  readonly #env: Env
  readonly #holder: string
  readonly #table: string

  constructor(connection: Connection, env: Env) {
    this.#connection = connection
    this.#env = env
    this.#holder = env.uuid()
    this.#table = `${connection.control}.schema_lock`
  }

  /**
   * Calls `work` while no other member holds the lock. Throws `unavailable` if it takes too long.
   */
  async hold<Result>(work: (lock: SchemaLock) => Promise<Result>): Promise<Result> {
    await this.#makeTable()
    await this.#take()
    try {
      return await work(this)
    } finally {
      await this.#release()
    }
  }

  /** Call before each statement. Throws `unavailable` if the lock was lost. */
  async renew(): Promise<void> {
    const cql = `UPDATE ${this.#table} USING TTL ${lockS} SET holder = ? WHERE name = 'schema' ` +
      'IF holder = ?'
    const values = [this.#holder, this.#holder]
    const found = await this.#answerTo({ cql, values }, lockS * 1_000,
      (answer) => answer !== undefined)
    if (found === true) return
    if (found === undefined) throw unanswered()
    throw new HeddleError('unavailable', 'Another member changes the schema in Cassandra; ' +
      'start again in a minute.')
  }

  /**
   * Makes the table with an id that is derived from its name. Two members may create it at once,
   * and a table created twice under two ids is broken.
   */
  async #makeTable(): Promise<void> {
    const hex = hash('sha256', this.#table)
    const id = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`,
      hex.slice(20, 32)].join('-')
    await this.#connection.execute(`CREATE TABLE IF NOT EXISTS ${this.#table} ` +
      `(name text PRIMARY KEY, holder uuid) WITH ID = ${id} AND ${reads}`)
    await this.#connection.agreed()
  }

  async #take(): Promise<void> {
    const cql = `INSERT INTO ${this.#table} (name, holder) VALUES ('schema', ?) IF NOT EXISTS ` +
      `USING TTL ${lockS}`
    const isMine = (found: Found) => found === true || found === this.#holder
    const found = await this.#answerTo({ cql, values: [this.#holder] }, patienceMs, isMine)
    if (!isMine(found)) throw takesTooLong()
  }

  async #release(): Promise<void> {
    const cql = `DELETE FROM ${this.#table} WHERE name = 'schema' IF holder = ?`
    // A lock that is not released expires.
    await this.#connection.swap({ cql, values: [this.#holder] }).catch(() => undefined)
  }

  /** Sends the statement until an answer is the last one, or the time is up. */
  async #answerTo(statement: Statement, forMs: number,
    isLast: (found: Found) => boolean): Promise<Found> {
    const untilMs = this.#env.monotonicMs() + forMs
    const backoff = new Backoff(this.#env, pauses)
    for (;;) {
      const found = await this.#swap(statement)
      if (isLast(found) || this.#env.monotonicMs() > untilMs) return found
      await backoff.pause()
    }
  }

  async #swap(statement: Statement): Promise<Found> {
    try {
      const { applied, row } = await this.#connection.swap(statement)
      return applied ? true : String(row?.['holder'])
    } catch (error) {
      if (error instanceof AmbiguousSwap) return undefined
      throw error
    }
  }
}

function takesTooLong(): HeddleError {
  return new HeddleError('unavailable', 'Another member has been changing the schema in ' +
    'Cassandra for minutes. See what it does, or end it and start again.')
}

function unanswered(): HeddleError {
  return new HeddleError('unavailable', 'Cassandra does not say whether this member may change ' +
    'the schema. Wait until its nodes answer, and start again.')
}
