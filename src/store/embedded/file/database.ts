/** The SQLite file of a data directory: its settings, its version, its statements. */

import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'

import { busy, ioError, sqliteCode } from './disk-error.ts'
import { migrationOf } from './schema-version.ts'
import type { FileVersion, SchemaStep } from './schema-version.ts'

/** A value that a statement takes. */
export type Value = SQLInputValue
/** Values of a statement by the names of its parameters, without the colon. */
export type NamedValues = Record<string, Value>

/** A prepared statement. Its rows are arrays of the selected columns. */
export interface Statement<Row extends readonly unknown[]> {
  /** The first row. */
  get(...values: Value[] | [NamedValues]): Row | undefined
  /** All rows at once. */
  all(...values: Value[] | [NamedValues]): Row[]
  /** Yields rows one at a time, without keeping them in memory. */
  iterate(...values: Value[] | [NamedValues]): Iterable<Row>
  run(
    ...values: Value[]
  ): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint }
}

/**
 * Pages are 4 KB, because a commit writes every page that it touched, mostly for a few bytes
 * (measured). `tidy` makes the checkpoints, so that no caller waits for one to learn of its commit.
 */
const settings = `
  PRAGMA journal_mode = WAL;
  PRAGMA cache_size = -65536;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = 67108864;
`

/** For a connection that only reads, and seldom the same pages twice. */
const readerSettings = 'PRAGMA query_only = ON; PRAGMA cache_size = -8192;'

/** Pages in the write-ahead log from which on moving them into the file is worth it: 16 MB. */
const walPages = 4_000

/** Time to wait for another process that has the file, as a backup or a person may. */
const patienceMs = 2_000

/** One connection to the file. It belongs to one thread; SQLite blocks that thread. */
export class Database {
  readonly #sqlite: DatabaseSync
  readonly #durable: boolean
  #waits = true
  /**
   * True when the disk failed to take something: what it has of the write-ahead log is not known.
   */
  #unconfirmed = false
  readonly #statements = new Map<string, Statement<never>>()

  /**
   * Opens the file. With a schema, applies the steps that the file has not seen. Without one the
   * connection only reads a file that another connection writes. If not `durable`, commits do not
   * wait for the disk. Throws HeddleError if this program is too old for the file, otherwise what
   * SQLite throws.
   */
  constructor(file: string, schema?: readonly SchemaStep[], durable = true) {
    this.#durable = durable
    this.#sqlite = new DatabaseSync(file, { returnArrays: true, allowUnknownNamedParameters: true,
      timeout: patienceMs })
    try {
      this.#sqlite.exec(schema === undefined ? readerSettings : settings)
      this.#sqlite.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'OFF'}`)
      if (schema !== undefined) this.#migrate(file, schema)
    } catch (error) {
      this.#sqlite.close()
      throw error
    }
  }

  /** Prepares a statement, once for each text. */
  prepare<Row extends readonly unknown[] = never>(sql: string): Statement<Row> {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.prepareOnce<never>(sql)
      this.#statements.set(sql, statement)
    }
    return statement as unknown as Statement<Row>
  }

  /** Prepares a statement whose text is one of too many to keep all of them. */
  prepareOnce<Row extends readonly unknown[]>(sql: string): Statement<Row> {
    return this.#sqlite.prepare(sql) as unknown as Statement<Row>
  }

  /**
   * Commits all of `work`, or nothing if it throws. With `wait` the commit is on disk when this
   * returns. Without it, the commit is on disk with the next one that waits and changes something.
   */
  transaction<Result>(work: () => Result, wait = true): Result {
    if (this.#unconfirmed) this.#settleDoubt()
    this.#waitForDisk(wait)
    return this.#between('COMMIT', work)
  }

  /** Runs `work` and undoes it. Its statements see what those before them did. */
  readThenRollback<Result>(work: () => Result): Result {
    return this.#between('ROLLBACK', work)
  }

  /** Makes all statements see the same state until the result is disposed of. */
  snapshot(): Disposable {
    this.prepare('BEGIN').run()
    return { [Symbol.dispose]: () => {
      if (this.#sqlite.isTransaction) this.prepare('COMMIT').run()
    } }
  }

  /** Defines a function for statements. It takes texts and returns a number or a truth value. */
  define(name: string, work: (...texts: string[]) => number | boolean): void {
    this.#sqlite.function(name, { deterministic: true, varargs: true },
      (...values) => Number(work(...values.map(String))))
  }

  /** Moves commits from the write-ahead log into the file, if there are enough of them. */
  tidy(): void {
    // While the log is in doubt, a part of it in the file would be worse than none.
    if (this.#unconfirmed) return
    type Pages = readonly [busy: number, log: number, moved: number]
    try {
      const [, pages] = this.prepare<Pages>('PRAGMA wal_checkpoint(NOOP)').get()!
      if (pages > walPages) this.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
    } catch (error) {
      // The commits stay in the write-ahead log until the disk takes them.
      this.#noteDoubt(error)
    }
  }

  /** Closes the connection. May be called again. */
  close(): void {
    if (this.#sqlite.isOpen) this.#sqlite.close()
  }

  #waitForDisk(wait: boolean): void {
    if (wait === this.#waits || !this.#durable) return
    this.#sqlite.exec(`PRAGMA synchronous = ${wait ? 'FULL' : 'NORMAL'}`)
    this.#waits = wait
  }

  #noteDoubt(error: unknown): void {
    this.#unconfirmed ||= this.#durable && sqliteCode(error) === ioError
  }

  /**
   * Moves the whole log into the file, waits for the disk, and begins the log anew. A disk that
   * failed to write may have lost what it was given, and does not report it again. Earlier commits
   * that did not wait could be missing from the log.
   */
  #settleDoubt(): void {
    const [isBusy] = this.prepare<[number]>('PRAGMA wal_checkpoint(TRUNCATE)').get()!
    if (isBusy) throw Object.assign(new Error('somebody reads the log'), { errcode: busy })
    this.#unconfirmed = false
  }

  #between<Result>(end: 'COMMIT' | 'ROLLBACK', work: () => Result): Result {
    // Locks from the start. Only then does SQLite wait for another process that writes.
    this.prepare('BEGIN IMMEDIATE').run()
    try {
      const result = work()
      if (!this.#sqlite.isTransaction) throw rolledBack()
      this.prepare(end).run()
      return result
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#sqlite.isTransaction) this.prepare('ROLLBACK').run()
      this.#noteDoubt(error)
      throw error
    }
  }

  #migrate(file: string, steps: readonly SchemaStep[]): void {
    if (migrationOf(file, this.#version(), steps) === undefined) return
    this.transaction(() => {
      // Another thread may have opened the file meanwhile: a step runs once.
      const migration = migrationOf(file, this.#version(), steps)
      if (migration === undefined) return
      const { sql, oldest, newest } = migration
      const note = newest === oldest ? '' : `
        CREATE TABLE IF NOT EXISTS schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
        INSERT OR REPLACE INTO schema_version VALUES ('newest', ${newest})`
      this.#sqlite.exec(`${sql}; PRAGMA user_version = ${oldest}; ${note}`)
    })
  }

  #version(): FileVersion {
    const [oldest] = this.prepare<[number]>('PRAGMA user_version').get()!
    const [known] = this.prepare<[number]>(
      "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'",
    ).get()!
    const newest = known === 0 ? undefined : this.prepare<[number]>(
      "SELECT version FROM schema_version WHERE name = 'newest'",
    ).get()?.[0]
    return { oldest, newest }
  }
}

/**
 * The error when the disk failed: SQLite ends such a transaction by itself, also one that reads.
 */
function rolledBack(): Error {
  return Object.assign(new Error('the transaction was rolled back'), { errcode: ioError })
}
