/** The SQLite file of a data directory: its settings, its version, its statements. */

import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'

import { busy, ioError, sqliteCode } from './disk-error.ts'
import { migrationOf } from './schema-version.ts'
import type { FileVersion, SchemaStep } from './schema-version.ts'

export type Value = SQLInputValue
export type NamedValues = Record<string, Value>

/** A prepared statement. Its rows are arrays of the columns that it selects. */
export interface Statement<Row extends readonly unknown[]> {
  get(...values: Value[] | [NamedValues]): Row | undefined
  all(...values: Value[] | [NamedValues]): Row[]
  /** Yields rows one at a time, without keeping them in memory. */
  iterate(...values: Value[] | [NamedValues]): Iterable<Row>
  run(
    ...values: Value[]
  ): { readonly lastInsertRowid: number | bigint; readonly changes: number | bigint }
}

/**
 * Measured: 4 KB pages, because a commit writes every page that it touched, mostly for a few bytes.
 * `tidy` makes the checkpoints, so that no caller waits for one to learn of its commit.
 */
const settings = `
  PRAGMA journal_mode = WAL;
  PRAGMA cache_size = -65536;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = 67108864;
`

/** For a connection that only reads: what it reads repeatedly is little. */
const readerSettings = 'PRAGMA query_only = ON; PRAGMA cache_size = -8192;'

/** Pages in the write-ahead log that make it worth moving them into the file: 16 MB. */
const walPages = 4_000

/** How long to wait for another process that reads the file: a backup, a person. */
const patienceMs = 2_000

export class Database {
  readonly #sqlite: DatabaseSync
  readonly #durable: boolean
  #waits = true
  /** The disk has failed to take something: what it has of the write-ahead log is not known. */
  #unconfirmed = false
  readonly #statements = new Map<string, Statement<never>>()

  /**
   * With a schema, applies the steps that the file has not seen. Without one it only reads, from a
   * file that another connection writes. If not `durable`, commits do not wait for the disk. Throws
   * HeddleError if this program is too old for the file, otherwise what SQLite throws.
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

  /** Prepared once for each text. */
  prepare<Row extends readonly unknown[] = never>(sql: string): Statement<Row> {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.#sqlite.prepare(sql) as unknown as Statement<never>
      this.#statements.set(sql, statement)
    }
    return statement as unknown as Statement<Row>
  }

  /**
   * All of `work` is committed, or none of it if it throws. It waits for the disk, unless asked not
   * to: then it is on disk with the next that waits and changes something, as are all before.
   */
  transaction<Result>(work: () => Result, wait = true): Result {
    if (this.#unconfirmed) this.#settleDoubt()
    this.#waitForDisk(wait)
    return this.#between('COMMIT', work)
  }

  /** Nothing of `work` stays. Its statements see what those before them did. */
  readThenRollback<Result>(work: () => Result): Result {
    return this.#between('ROLLBACK', work)
  }

  /** Until the result is disposed of, all statements see the same. */
  snapshot(): Disposable {
    this.prepare('BEGIN').run()
    return { [Symbol.dispose]: () => {
      if (this.#sqlite.isTransaction) this.prepare('COMMIT').run()
    } }
  }

  /**
   * Defines a function that statements can call: takes texts, returns a number or a truth value.
   */
  define(name: string, work: (...texts: string[]) => number | boolean): void {
    this.#sqlite.function(name, { deterministic: true, varargs: true },
      (...values) => Number(work(...(values as string[]))))
  }

  /** Moves commits from the write-ahead log into the file, if there are enough of them. */
  tidy(): void {
    // As long as it is in doubt, a part of the log in the file would be worse than none.
    if (this.#unconfirmed) return
    type Pages = readonly [busy: number, log: number, moved: number]
    try {
      const [, pages] = this.prepare<Pages>('PRAGMA wal_checkpoint(NOOP)').get()!
      if (pages > walPages) this.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
    } catch (error) {
      // It stays in the write-ahead log until the disk takes it.
      this.#noteDoubt(error)
    }
  }

  /** May be called again. */
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
   * A disk that failed to write what it was given may have forgotten it, and will not say so again:
   * earlier commits that did not wait for it could be missing from the log. So all of the log goes
   * into the file, which is waited for, and the log begins anew.
   */
  #settleDoubt(): void {
    const [isBusy] = this.prepare<[number]>('PRAGMA wal_checkpoint(TRUNCATE)').get()!
    if (isBusy) throw Object.assign(new Error('somebody reads the log'), { errcode: busy })
    this.#unconfirmed = false
  }

  #between<Result>(end: 'COMMIT' | 'ROLLBACK', work: () => Result): Result {
    // Locked from the start: only then SQLite waits for another process that writes.
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
    const migration = migrationOf(file, this.#version(), steps)
    if (migration === undefined) return
    const { sql, oldest, newest } = migration
    const note = newest === oldest ? '' : `
      CREATE TABLE IF NOT EXISTS schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
      INSERT OR REPLACE INTO schema_version VALUES ('newest', ${newest})`
    this.transaction(() => this.#sqlite.exec(`${sql}; PRAGMA user_version = ${oldest}; ${note}`))
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

/** SQLite ends a transaction by itself in which the disk fails, also for who only reads. */
function rolledBack(): Error {
  return Object.assign(new Error('the transaction was rolled back'), { errcode: ioError })
}
