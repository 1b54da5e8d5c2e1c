/**
 * Answers one question in SQL, and ends. It is a process of its own, because SQLite cannot be
 * stopped in the middle of a statement. Started by sql-query.ts.
 */

import { constants, DatabaseSync } from 'node:sqlite'

import { messageOf } from '../../../errors.ts'
import type { SqlAnswer, SqlQuestion, SqlType } from '../../../platform/index.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../uuid-bytes.ts'
import { parentIn } from '../span-rows/dotted-order.ts'
import { viewStatements, visibleTables } from './run-view.ts'

/** Message that starts the process: the question, and the file to read. */
export interface SqlStart extends SqlQuestion {
  /** Path of `traces.db`. */
  readonly file: string
  /** An unguessable name, for the views that read tables. */
  readonly hidden: string
}

/** Message with which it ends: the answer, or the fault in the statement. */
export type SqlEnd = { readonly answer: SqlAnswer } | { readonly wrong: string }

/** Bounds of an answer, and bytes that SQLite may use. */
const [rowsMax, bytesMax, heapBytes] = [10_000, 8 * 1024 * 1024, 128 * 1024 * 1024]
/** Bound of a first row, which may be more than an answer: so large is what a client may send. */
const firstRowBytesMax = 24 * 1024 * 1024

process.once('message', (start) => process.send!(answered(start as SqlStart)))

/** Answer to a question. A fault in its statement is reported to the one who wrote it. */
function answered(start: SqlStart): SqlEnd {
  const database = new DatabaseSync(start.file, { readOnly: true, returnArrays: true })
  const { hidden } = start
  show(database, start)
  confine(database, hidden)
  try {
    return { answer: read(database, start.query) }
  } catch (error) {
    return { wrong: messageOf(error).replaceAll(hidden, 'heddle') }
  } finally {
    database.close()
  }
}

/** Makes what the question may see. */
function show(database: DatabaseSync, { tenant, projects, hidden }: SqlStart): void {
  database.exec(`PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = ${heapBytes}`)
  database.function('heddle_uuid', { deterministic: true },
    (bytes) => (bytes instanceof Uint8Array ? uuidOfBytes(bytes) : null))
  database.function('heddle_parent', { deterministic: true },
    (dotted, trace) =>
      dotted === null || !(trace instanceof Uint8Array)
        ? null
        : parentIn(dotted, uuidOfBytes(trace)) ?? null)
  // A file of an earlier version, in which nothing was written since.
  const hasKinds = database.prepare("SELECT 1 FROM pragma_table_info('span') WHERE name = 'kinds'")
    .get() !== undefined
  const kinds = hasKinds ? 'kinds' : 'NULL'
  for (const statement of viewStatements(hidden, kinds)) database.exec(statement)
  const [no] = rowOf<number>(database.prepare('SELECT no FROM tenant WHERE name = ?').get(tenant))
  const add = database.prepare(`INSERT INTO ${hidden}_project
    SELECT no, ?, gone_us, ? FROM project WHERE tenant = ? AND id = ?`)
  for (const { id, fromUs } of projects) add.run(id, fromUs, no ?? -1, bytesOfUuid(id))
}

function rowOf<Value>(row: unknown): readonly Value[] {
  return row === undefined ? [] : row as readonly Value[]
}

/**
 * From now on only reading of what is shown is allowed. A table is read through a hidden view, or
 * not at all: any other name, the statement may have given to something of its own.
 */
function confine(database: DatabaseSync, hidden: string): void {
  const shown = new Set<string>(visibleTables)
  const stored = new Set(
    database.prepare('SELECT lower(name) FROM main.sqlite_schema').all()
      .map((row) => rowOf<string>(row)[0]!),
  )
  // A name without a column counts rows: it is not said in which database SQLite finds it.
  const mayCount = (name: string) =>
    shown.has(name) || !(stored.has(name) || /^(sqlite|pragma)_/.test(name))
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_RECURSIVE, SQLITE_FUNCTION, SQLITE_READ } =
    constants
  const mayRead = (name: string, column: string, place: string, through: string) =>
    through.startsWith(hidden) || (place === 'temp' && (shown.has(name) || name.startsWith(hidden)))
    || (column === '' && place === '' && mayCount(name.toLowerCase()))
  database.enableDefensive(true)
  database.setAuthorizer((action, first, second, place, through) => {
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return SQLITE_OK
      case SQLITE_FUNCTION:
        return second === 'load_extension' ? SQLITE_DENY : SQLITE_OK
      case SQLITE_READ:
        return mayRead(first ?? '', second ?? '', place ?? '', through ?? '')
          ? SQLITE_OK
          : SQLITE_DENY
      default:
        return SQLITE_DENY
    }
  })
}

function read(database: DatabaseSync, query: string): SqlAnswer {
  const statement = database.prepare(query)
  const names = statement.columns().map(({ name }) => name)
  if (names.length === 0) throw new Error('this is no question: write one SELECT')
  const rows: unknown[][] = []
  const types: SqlType[] = names.map(() => 'null')
  let bytes = 0
  let reason: SqlAnswer['truncation_reason'] = null
  for (const row of statement.iterate()) {
    if (rows.length === rowsMax) reason = 'row_limit'
    const cells = rowOf<unknown>(row)
    const values = cells.map(jsonValue)
    bytes += JSON.stringify(values).length
    if (rows.length === 0 && bytes > firstRowBytesMax) {
      throw new Error('the first row is larger than 24 MiB: ask for less of it, as by substr()')
    }
    if (rows.length > 0 && bytes > bytesMax) reason ??= 'size_limit'
    if (reason !== null) break
    rows.push(values)
    // The first value that is not null decides.
    for (const [index, value] of cells.entries()) {
      if (types[index] === 'null') types[index] = typeOf(value)
    }
  }
  return { columns: names.map((name, index) => ({ name, data_type: types[index]! })), rows,
    truncation_reason: reason }
}

function jsonValue(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

function typeOf(value: unknown): SqlType {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'float'
    case 'string':
      return 'string'
    default:
      return value === null ? 'null' : 'binary'
  }
}
