/**
 * Sessions of members: one row each in the control keyspace, changed only by compare-and-set.
 *
 * A compare-and-set with an unknown outcome is asked again until it is known. One that changes
 * nothing is executed even if a session has ended already: committing it puts on a quorum what
 * another member may have left on a single replica.
 *
 * Rule: [fence_quorum].
 */

import { Backoff } from '../../../../cluster/index.ts'
import type { Env, Member, SessionPort, SessionState } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { AmbiguousSwap } from '../driver/connection.ts'
import type { Connection, Row, Statement, Value } from '../driver/connection.ts'

/** Attempts after which the cluster counts as without a quorum. */
const triesMax = 20
/** Time for attempts that are not answered. The caller then decides what to do. */
const patienceMs = 3_000
const pauses = { firstMs: 50, longestMs: 100 }

/** The part of a connection that control rows need. */
export type ControlConnection = Pick<Connection, 'control' | 'read' | 'swap'>

/** Undefined if no row is found. */
type Found = SessionState | undefined

/** Sessions, as the cluster needs them. */
export class SessionTable implements SessionPort {
  readonly #connection: ControlConnection
  readonly #env: Env
  readonly #table: string

  constructor(connection: ControlConnection, env: Env) {
    this.#connection = connection
    this.#env = env
    this.#table = `${connection.control}.node_session`
  }

  async join({ id, address }: Member): Promise<void> {
    const row = [id, 'alive', address, this.#env.nowMs()]
    const insert = `INSERT INTO ${this.#table} (session, state, address, started) ` +
      'VALUES (?, ?, ?, ?) IF NOT EXISTS'
    if (await this.#swapped({ cql: insert, values: row }) === 'applied') return
    // An earlier attempt may have been applied. This tells whether the session is still as made.
    if (await this.#change(id, 'alive', { state: 'alive' }) === 'applied') return
    throw new HeddleError('unavailable', 'The session of this member was ended while it joined.')
  }

  async state(session: string): Promise<Found> {
    const cql = `SELECT state FROM ${this.#table} WHERE session = ?`
    const [row] = await this.#connection.read({ cql, values: [session], prompt: true })
    return stateIn(row)
  }

  async fence(session: string, by: string): Promise<'fenced' | 'left'> {
    let believed: Found = 'alive'
    for (;;) {
      const state: 'fenced' | 'left' = believed === 'left' ? 'left' : 'fenced'
      const found: Found | 'applied' = believed === undefined
        ? await this.#insertFenced(session, by)
        : await this.#change(session, believed, { state, fenced_by: by })
      if (found === 'applied') return state
      believed = found
    }
  }

  async leave(session: string): Promise<void> {
    await this.#change(session, 'alive', { state: 'left' })
  }

  /** Inserts a fenced session, since one that is not known yet must not appear later. */
  #insertFenced(session: string, by: string): Promise<Found | 'applied'> {
    const cql = `INSERT INTO ${this.#table} (session, state, fenced_by) ` +
      'VALUES (?, ?, ?) IF NOT EXISTS'
    return this.#swapped({ cql, values: [session, 'fenced', by] })
  }

  #change(session: string, from: SessionState,
    to: Readonly<Record<string, Value>>): Promise<Found | 'applied'> {
    const set = Object.keys(to).map((column) => `${column} = ?`).join(', ')
    const cql = `UPDATE ${this.#table} SET ${set} WHERE session = ? IF state = ?`
    return this.#swapped({ cql, values: [...Object.values(to), session, from] })
  }

  /** `applied`, or the state that was found instead. */
  async #swapped(statement: Statement): Promise<Found | 'applied'> {
    const beganMs = this.#env.monotonicMs()
    const backoff = new Backoff(this.#env, pauses)
    for (let tries = 1;; tries++) {
      try {
        const { applied, row } = await this.#connection.swap(statement)
        return applied ? 'applied' : stateIn(row)
      } catch (error) {
        if (!(error instanceof AmbiguousSwap)) throw error
        const late = this.#env.monotonicMs() - beganMs > patienceMs
        if (late || tries === triesMax) throw unknown(error)
      }
      await backoff.pause()
    }
  }
}

function unknown(cause: unknown): HeddleError {
  return new HeddleError('unavailable', 'Cassandra does not tell whether a session was changed: ' +
    'see that a quorum of its nodes is up.', {}, { cause })
}

/** Only these states are ever written. */
function stateIn(row: Row | undefined): Found {
  return row?.state as Found
}
