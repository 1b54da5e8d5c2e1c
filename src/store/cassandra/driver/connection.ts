/** The connection to Cassandra. Every statement of the store goes through its few methods. */

import { Client, types } from 'cassandra-driver'
import type { QueryOptions } from 'cassandra-driver'

import { backoffMs, pauseMsMax } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { assert, CodedError, goingAway, HeddleError } from '../../../errors.ts'
import { attemptMs, clientOptions } from './client-options.ts'
import type { ConnectionOptions } from './client-options.ts'
import { renewOneAtATime } from './control-connection.ts'
import { outcomeOf, refusal, swapOutcomeOf } from './driver-error.ts'
import { Hedge, patienceMs } from './hedge.ts'
import { hedgedWrite } from './hedged-write.ts'
import { ReadTimeout } from './read-timeout.ts'
import type { Row } from './row.ts'
import { RunningMedian } from './running-median.ts'
import { hostsAgree, hostsOf, schemaHost } from './schema-hosts.ts'
import { startError } from './start-error.ts'

/**
 * A value: `bigint` for bigint columns, text for uuid columns, an array for a set and for what `IN`
 * compares with. In a plain write null leaves a column unset.
 */
export type Value = string | number | bigint | boolean | Uint8Array | null
  | readonly (bigint | string | Buffer | types.Tuple)[]

/** A CQL statement. `?` stands for the values in order. Tables are named with their keyspace. */
export interface Statement {
  readonly cql: string
  readonly values: readonly Value[]
  /** True if many callers wait for what it reads. */
  readonly prompt?: boolean
}

/** Thrown for a compare-and-set that may have been applied or not, or may still be. */
export class AmbiguousSwap extends Error {
  override readonly name = 'AmbiguousSwap'

  constructor(cause: unknown) {
    super('The outcome of a compare-and-set is not known.', { cause })
  }
}

export type { Row }

const schemaMs = 30_000
/** Time for hosts to agree on the schema. A host that is down is not needed. */
const agreementMs = 10_000
const agreementPauseMs = 100
/** Age of an answer up to which it shows that Cassandra can be reached. */
const latelyMs = 1_000
/** Time in which a write is tried again while it is certain that nothing was written. */
const writeMs = 1_500
/** Time in which a write that may be left undone is tried again. */
const repeatableMs = 8_000
/**
 * A write that takes this many times as long as usual is sent a second time, in parallel. The bound
 * is relative, so that a store that is slow as a whole does not get twice as many writes.
 */
const slowTimes = 8
const pauses = { firstMs: 50, longestMs: 1_000 }
/** Rows in one answer, at most. */
const pageRows = 5_000

const repeated = 'Cassandra refuses a write that it may have done: it is repeated.'

const { localQuorum, localSerial } = types.consistencies
const prepared = { prepare: true, consistency: localQuorum, readTimeout: attemptMs } as const
// The driver must not retry: after its own retry it reports only the last attempt.
const written: QueryOptions = { ...prepared, isIdempotent: false }
const swapped: QueryOptions = { ...written, serialConsistency: localSerial }

/** The session with Cassandra of one store, which owns it. Reads and writes are at LOCAL_QUORUM. */
export class Connection {
  readonly keyspace: string
  /** The keyspace of control rows. */
  readonly control: string
  readonly localDataCenter: string
  readonly #client: Client
  readonly #hedge: Hedge
  readonly #env: Env
  readonly #pauses = new Set<() => void>()
  readonly #writeMedian = new RunningMedian(patienceMs / slowTimes)
  /** Time at which the last request was answered. */
  #answeredMs = Number.NEGATIVE_INFINITY
  #closed = false

  /** Connects. Throws HeddleError with a message for the person who starts the member. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    if (!/^[a-z][a-z0-9_]{0,39}$/.test(options.keyspace)) {
      throw new HeddleError('invalid', `${options.keyspace} cannot name a keyspace. Use up to 40 ` +
        'lower case letters, digits and underscores, a letter first.')
    }
    const hedge = new Hedge()
    const client = new Client(clientOptions(options, hedge))
    renewOneAtATime(client, options.env)
    client.on('log',
      (level: string, source: string, message: string) =>
        options.env.log.debug('A message of the driver.', { level, source, message }))
    try {
      await client.connect()
    } catch (error) {
      throw startError(error, options)
    }
    return new Connection(client, options, hedge)
  }

  private constructor(client: Client, { env, keyspace, localDataCenter }: ConnectionOptions,
    hedge: Hedge) {
    this.#client = client
    this.#hedge = hedge
    this.#env = env
    this.keyspace = keyspace
    this.control = `${keyspace}_control`
    this.localDataCenter = localDataCenter
  }

  /**
   * Resolves when the write is on a quorum. The same bytes are sent again until that is known, and
   * once more in parallel if it takes long. Throws `unavailable` if nothing was written, or if the
   * connection was closed. Its details say `ambiguous` if it may have been written.
   */
  async write({ cql, values }: Statement): Promise<void> {
    const sent = values.map(unsetOrSent)
    await this.#untilKnown(() => this.#client.execute(cql, sent, written))
  }

  /**
   * Writes several statements, which change one partition: either all are written or none.
   * Otherwise like `write`.
   */
  async batch(statements: readonly Statement[]): Promise<void> {
    const queries = queriesOf(statements)
    await this.#untilKnown(() => this.#client.batch(queries, { ...written, logged: false }))
  }

  /**
   * Writes like `batch` what its caller may write again at any later time. So it gives up after
   * eight seconds, and throws `unavailable` then also if something may have been written.
   */
  async repeatableBatch(statements: readonly Statement[]): Promise<void> {
    const queries = queriesOf(statements)
    const send = () => this.#client.batch(queries, { ...written, logged: false })
    await this.#untilKnown(send, { repeatable: true })
  }

  /** Reads up to 5 000 rows. Throws `unavailable` if no answer comes in time. */
  async read(statement: Statement): Promise<Row[]> {
    const { rows, pageState } = await this.#page(statement, pageRows)
    assert(pageState == null, 'this reads a bounded number of rows')
    return rows
  }

  /** Yields rows, as many at a time as `fetchSize` says for each page. Throws as `read` does. */
  async *pages(statement: Statement,
    fetchSize: number | (() => number)): AsyncGenerator<Row[], void, void> {
    const sizeNow = typeof fetchSize === 'number' ? () => fetchSize : fetchSize
    let pageState: string | undefined
    do {
      const page = await this.#page(statement, sizeNow(), pageState)
      yield page.rows
      pageState = page.pageState ?? undefined
    } while (pageState !== undefined)
  }

  /**
   * One compare-and-set. Several statements are applied together or not at all. If it was not
   * applied, `row` is what is there. Null is written as null. Throws AmbiguousSwap, or
   * `unavailable` if it certainly was not applied and will not be.
   */
  async swap(
    statements: Statement | readonly Statement[],
  ): Promise<{ applied: boolean; row: Row | undefined }> {
    try {
      const { rows } = await this.#swap([statements].flat())
      const row = rows[0]
      const found = row !== undefined && row.keys().length > 1
      return { applied: row?.['[applied]'] === true, row: found ? cellsOf(rows)[0] : undefined }
    } catch (error) {
      switch (swapOutcomeOf(error)) {
        case 'refused':
          throw refusal(error)
        case 'not_done':
          throw unavailable(error)
        case 'unknown':
          throw new AmbiguousSwap(error)
      }
    }
  }

  /** A compare-and-set that may be applied twice. It is sent again until its outcome is known. */
  async swapSurely(statement: Statement): Promise<void> {
    for (let tries = 1;; tries++) {
      if (this.#closed) throw goingAway({ ambiguous: true })
      try {
        await this.swap(statement)
        return
      } catch (error) {
        if (!(error instanceof AmbiguousSwap)) throw error
      }
      await this.#pauseAfter(tries)
    }
  }

  /**
   * For work that follows from something already written. It is repeated while Cassandra cannot be
   * reached, until the connection is closed.
   */
  async surely(work: () => Promise<void>): Promise<void> {
    for (let tries = 1;; tries++) {
      try {
        await work()
        return
      } catch (error) {
        const outOfReach = error instanceof CodedError && error.code === 'unavailable'
        if (!outOfReach) throw error
        if (this.#closed) throw goingAway({ ambiguous: true })
      }
      await this.#pauseAfter(tries)
    }
  }

  /**
   * Changes the schema. All such statements go to one host, so that each sees what the ones before
   * it made. Other hosts see it after `agreed`. Throws what the driver throws.
   */
  async execute(cql: string): Promise<void> {
    await this.#client.execute(cql, [], { consistency: localQuorum, readTimeout: schemaMs,
      host: schemaHost(this.#client, this.localDataCenter) })
  }

  /** Resolves when all hosts know what was executed, or after ten seconds. */
  async agreed(): Promise<void> {
    const untilMs = this.#env.monotonicMs() + agreementMs
    while (!this.#closed && !await hostsAgree(this.#client, this.localDataCenter)) {
      if (this.#env.monotonicMs() > untilMs) {
        this.#env.log.warn('The hosts of Cassandra do not all have the same tables yet.')
        return
      }
      await this.#pause(agreementPauseMs)
    }
  }

  /** True if Cassandra answers at once. */
  async reachable(): Promise<boolean> {
    const cql = `SELECT value FROM ${this.control}.setting WHERE name = 'shards'`
    return await this.#client.execute(cql, [], prepared).then(() => true, () => false)
  }

  /** Milliseconds by which the clock of this machine is ahead of Cassandra's, at least. */
  async clockAheadMs(): Promise<number> {
    const askedMs = this.#env.nowMs()
    const [row] = await this.read({
      cql: 'SELECT toUnixTimestamp(now()) AS now FROM system.local',
      values: [],
    })
    const theirMs = Number(row!['now'])
    // Their clock was read somewhere in between, however long the answer took.
    return Math.max(0, askedMs - theirMs) + Math.min(0, this.#env.nowMs() - theirMs)
  }

  /** Number of hosts in the local data center. */
  localHosts(): number {
    return hostsOf(this.#client, this.localDataCenter).length
  }

  /** Closes the connection. Gives up what is in flight. */
  async close(): Promise<void> {
    this.#closed = true
    for (const wake of this.#pauses) wake()
    await this.#client.shutdown()
  }

  async #untilKnown(attempt: () => Promise<unknown>, { repeatable = false } = {}): Promise<void> {
    const giveUpMs = this.#env.monotonicMs() + (repeatable ? repeatableMs : writeMs)
    let ambiguous = false
    for (let tries = 1;; tries++) {
      if (this.#closed) throw goingAway({ ambiguous })
      try {
        const sentMs = this.#env.monotonicMs()
        const slowMs = Math.max(patienceMs, slowTimes * this.#writeMedian.ms)
        this.#answered(await hedgedWrite(this.#env, slowMs, attempt))
        this.#writeMedian.add(this.#env.monotonicMs() - sentMs)
        return
      } catch (error) {
        const outcome = outcomeOf(error)
        const pauseMs = pauseMsMax(pauses, tries)
        if (outcome === 'refused') {
          if (!ambiguous) throw refusal(error)
          // An earlier attempt may have been applied, so what is not known yet is asked again.
          if (pauseMs === pauses.longestMs) this.#env.log.warn(repeated, { error })
        }
        ambiguous ||= outcome === 'unknown'
        const late = this.#env.monotonicMs() + pauseMs >= giveUpMs
        if (late && (repeatable || !ambiguous)) throw unavailable(error, { ambiguous })
      }
      await this.#pauseAfter(tries)
    }
  }

  async #page({ cql, values, prompt }: Statement, fetchSize: number,
    pageState?: string): Promise<{ rows: Row[]; pageState: string | null | undefined }> {
    const sent = values.map(asSent)
    const patience = new ReadTimeout(this.#env, () => this.#inReach)
    for (let tries = 1;; tries++) {
      if (this.#closed) throw goingAway()
      const askedMs = this.#env.monotonicMs()
      const pauseMs = pauseMsMax(pauses, tries)
      const readTimeout = patience.nextMs(pauseMs)
      try {
        const answer = this.#answered(
          await this.#client.execute(cql, sent, { ...prepared, isIdempotent: true, readTimeout,
            fetchSize, pageState }),
        )
        if (prompt) this.#hedge.answered(cql, this.#env.monotonicMs() - askedMs)
        return { rows: cellsOf(answer.rows), pageState: answer.pageState }
      } catch (error) {
        if (outcomeOf(error) === 'refused') throw refusal(error)
        if (patience.hasEnded(pauseMs)) throw unavailable(error)
      }
      await this.#pauseAfter(tries)
    }
  }

  get #inReach(): boolean {
    return this.#env.monotonicMs() - this.#answeredMs < latelyMs
  }

  #answered<Answer>(answer: Answer): Answer {
    this.#answeredMs = this.#env.monotonicMs()
    return answer
  }

  #swap(statements: readonly Statement[]): Promise<types.ResultSet> {
    const queries = statements.map(({ cql, values }) => ({ query: cql,
      params: values.map(asSent) })
    )
    const [only] = queries
    return queries.length === 1
      ? this.#client.execute(only!.query, only!.params, swapped)
      : this.#client.batch(queries, { ...swapped, logged: false })
  }

  /** Ends early when the connection is closed. */
  #pauseAfter(tries: number): Promise<void> {
    return this.#pause(backoffMs(pauses, tries, this.#env.random()))
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel()
        this.#pauses.delete(wake)
        resolve()
      }
      const cancel = this.#env.after(ms, wake)
      this.#pauses.add(wake)
    })
  }
}

/** The value as the driver wants it, with a Buffer for bytes. */
function asSent(value: Value): Value {
  if (!(value instanceof Uint8Array) || Buffer.isBuffer(value)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

function queriesOf(statements: readonly Statement[]) {
  return statements.map(({ cql, values }) => ({ query: cql, params: values.map(unsetOrSent) }))
}

function unsetOrSent(value: Value): Value | undefined {
  return value === null ? undefined : asSent(value)
}

function unavailable(cause: unknown, details: HeddleError['details'] = {}): HeddleError {
  return new HeddleError('unavailable', 'Cassandra is out of reach; try again.', details, { cause })
}

/** The statement names the columns, and the steps of the schema give these their types. */
function cellsOf(rows: unknown): Row[] {
  return rows as Row[]
}
