/**
 * One replica of Cassandra in memory, for the tables of traces: cells with timestamps and times to
 * live, deletions of cells, rows and ranges, and compare-and-set. Requests never fail. Statements
 * have exactly the shapes that the store sends.
 *
 * The replicas of `../replica.ts` are others. They model quorums: a deletion leaves an empty cell
 * with a timestamp, which read repair copies, and rows are in order, so that a read of three
 * replicas merges them. Their tables have no maps, sets, static columns or times to live. Cells
 * here expire by a clock and have elements, and no request fails, so a deletion removes cells.
 * Elements and ends of life would be in each cell that a merge of three replicas compares. The two
 * share the tables of the migrations and the order of values (`../cql.ts`).
 */

import type { types } from 'cassandra-driver'

import type { Connection, Statement,
  Value } from '../../../src/store/cassandra/driver/connection.ts'
import { compareCells, tablesOf } from '../cql.ts'
import type { Cell as Scalar, TableShape } from '../cql.ts'

const keyspace = 'memory'
/** Columns of whole partitions, and columns with a cell for each key. */
const statics: ReadonlySet<string> = new Set(['removed_before', 'some_removed'])
const [maps, sets] = [new Set(['ops', 'feedback', 'members']), new Set(['terms'])]

/** A value that is stored, with its element if its column has several cells. */
interface Cell {
  readonly column: string
  readonly element: Scalar
  readonly value: Scalar
  readonly stamp: bigint
  /** Milliseconds since 1970; Infinity if it never expires. */
  readonly expiresMs: number
}

interface StoredRow {
  readonly key: Readonly<Record<string, Scalar>>
  readonly cells: Map<string, Cell>
}

interface Partition {
  readonly statics: StoredRow
  readonly rows: Map<string, StoredRow>
  readonly removals: { readonly covers: (row: StoredRow) => boolean; readonly stamp: bigint }[]
}

type Test = (row: StoredRow) => boolean
type Answer = Record<string, unknown>
type Bound = (text: string) => Value

const update = /^UPDATE (\S+)(?: USING (.*?))? SET (.*?) WHERE (.*?)(?: IF (\w+) = (\S+))?$/
const insert = /^INSERT INTO (\S+) \((.*?)\) VALUES \((.*?)\)(?: USING (.*))?$/
const remove = /^DELETE (?:(\w+)\[(\S+)\] )?FROM (\S+)(?: USING TIMESTAMP (\S+))? WHERE (.*)$/
const select = new RegExp(/^SELECT (DISTINCT )?(.*?) FROM (\S+) WHERE (.*?)/.source +
  /(?: ORDER BY \w+ (ASC|DESC))?(?: LIMIT (\d+))?$/.source)

/** The tables, which outlive the connections to them. */
export class MemoryCassandra {
  readonly #shapes = tablesOf(keyspace)
  readonly #partitions = new Map<string, Map<string, Partition>>()
  readonly #nowMs: () => number
  #lastStamp = 0n

  /** `nowMs` is the clock of the replica, and of the drivers. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** A connection, as far as the store of traces uses it. */
  connect(): Connection {
    const write = async (...statements: readonly Statement[]) => {
      const stamp = this.#stamp()
      for (const statement of statements) this.#change(statement, stamp)
    }
    const read = async (statement: Statement) => this.#read(statement)
    const calls: Partial<Connection> = {
      keyspace,
      write,
      batch: (statements) => write(...statements),
      repeatableBatch: (statements) => write(...statements),
      read: read as unknown as Connection['read'],
      pages: async function*(statement: Statement) {
        yield await read(statement)
      } as unknown as Connection['pages'],
      swap: async (statement) => ({ applied: this.#change(statement as Statement, this.#stamp()),
        row: undefined }),
      close: () => Promise.resolve(),
    }
    return calls as Connection
  }

  /** Counts rows with a value in a column. */
  count(table: string, column: string): number {
    return [...this.#partitions.get(`${keyspace}.${table}`)?.values() ?? []]
      .flatMap(({ rows }) => [...rows.values()])
      .filter((row) => this.#cellsOf(row, column).length > 0).length
  }

  #stamp(): bigint {
    const nowUs = BigInt(Math.floor(this.#nowMs() * 1_000))
    this.#lastStamp = nowUs > this.#lastStamp ? nowUs : this.#lastStamp + 1n
    return this.#lastStamp
  }

  /** Returns false if its condition does not hold. */
  #change({ cql, values }: Statement, driverStamp: bigint): boolean {
    const [text, bound] = numbered(cql, values)
    const removed = remove.exec(text)
    if (removed) {
      const [, column, element, table, stamp, where] = removed
      this.#remove(this.#partition(table!, where!, bound), where!, bound, {
        stamp: stamp === undefined ? driverStamp : BigInt(bound(stamp) as bigint),
        cell: column === undefined ? undefined : cellName(column, bound(element!) as Scalar),
      })
      return true
    }
    const [table, using, set, where, column, expected] = writeIn(text)
    const { partition, shape } = this.#partition(table, where, bound)
    const row = rowAt(partition, shape, equalsIn(where, bound))
    if (column !== undefined) {
      const [now] = this.#cellsOf(row, column)
      if (now === undefined || compareCells(now.value, bound(expected!) as Scalar) !== 0) {
        return false
      }
    }
    const options = optionsIn(using, bound)
    const stamp = options.stamp ?? driverStamp
    const expiresMs = options.ttlS > 0 ? this.#nowMs() + options.ttlS * 1_000 : Infinity
    for (const each of assignmentsIn(set, bound)) {
      const isStatic = statics.has(each.column)
      put(partition, isStatic ? partition.statics : row, { ...each, stamp, expiresMs })
    }
    return true
  }

  #remove({ partition, shape }: { readonly partition: Partition; readonly shape: TableShape },
    where: string, bound: Bound,
    { stamp, cell }: { readonly stamp: bigint; readonly cell: string | undefined }): void {
    const covers = testOf(where, bound, shape.partition)
    if (cell === undefined) partition.removals.push({ covers, stamp })
    for (const row of [...partition.rows.values()].filter(covers)) {
      for (const [name, each] of row.cells) {
        if ((cell === undefined || name === cell) && each.stamp <= stamp) row.cells.delete(name)
      }
    }
  }

  #read({ cql, values }: Statement): Answer[] {
    const [text, bound] = numbered(cql, values)
    const [, , , table, where] = select.exec(text) ?? unknown(text)
    const shape = this.#shapeOf(table!)
    const [list, column, place] = where!.split(' AND ')
      .map((each) => /^(\w+) IN (\?\d+)$/.exec(each))
      .find((each) => each !== null && shape.partition.includes(each[1]!)) ?? []
    if (list === undefined) return this.#readPartition(text, bound)
    return (bound(place!) as readonly Value[]).flatMap((value) =>
      this.#readPartition(text.replace(list, `${column} = ${place}`), (each) =>
        each === place ? value : bound(each))
    )
  }

  #readPartition(text: string, bound: Bound): Answer[] {
    const [, distinct, columns, table, where, order, limit] = select.exec(text) ?? unknown(text)
    const { partition, shape } = this.#partition(table!, where!, bound)
    const answer = columnsIn(columns!)
    const live = [...partition.rows.values()].filter((row) => this.#isLive(row))
    if (distinct !== undefined) {
      const isKnown = live.length > 0 || this.#isLive(partition.statics)
      return isKnown ? [this.#answer(partition.statics, answer)] : []
    }
    const isDescending = order === undefined ? shape.descending : order === 'DESC'
    const rows = live.filter(testOf(where!, bound, shape.partition))
      .toSorted((a, b) =>
        (isDescending ? -1 : 1) *
        compareKeys(shape.clustering.map((name) => [a.key[name], b.key[name]]))
      )
    return rows.slice(0, limit === undefined ? Infinity : Number(limit))
      .map((row) => this.#answer(row, answer))
  }

  #answer(row: StoredRow, columns: ReturnType<typeof columnsIn>): Answer {
    return Object.fromEntries(columns.map(({ name, column, what }) => {
      if (column in row.key) return [name, row.key[column]]
      const cells = this.#cellsOf(row, column)
      const several = maps.has(column) || sets.has(column)
      if (cells.length === 0) return [name, null]
      if (what === 'value' && maps.has(column)) {
        return [name,
          Object.fromEntries(cells.map(({ element, value }) => [String(element), value]))]
      }
      const each = cells.map((cell) => {
        if (what === 'written') return cell.stamp
        if (what === 'value') return sets.has(column) ? cell.element : cell.value
        return cell.expiresMs === Infinity
          ? null
          : Math.ceil((cell.expiresMs - this.#nowMs()) / 1_000)
      })
      return [name, several ? each : each[0]]
    }))
  }

  #isLive(row: StoredRow): boolean {
    for (const [name, { expiresMs }] of row.cells) {
      if (expiresMs > this.#nowMs()) return true
      row.cells.delete(name)
    }
    return false
  }

  /** The live cells of a column, by element. */
  #cellsOf(row: StoredRow, column: string): readonly Cell[] {
    return [...row.cells.values()]
      .filter((cell) => cell.column === column && cell.expiresMs > this.#nowMs())
      .toSorted((a, b) => compareCells(a.element, b.element))
  }

  #shapeOf(table: string): TableShape {
    const shape = this.#shapes.get(table)
    if (shape === undefined) throw new Error(`There is no table ${table}.`)
    return shape
  }

  #partition(table: string, where: string, bound: Bound) {
    const shape = this.#shapeOf(table)
    const keys = equalsIn(where, bound)
    const name = shape.partition.map((column) => textOf(keys[column])).join('\n')
    const all = this.#partitions.get(table) ?? new Map<string, Partition>()
    this.#partitions.set(table, all)
    const partition = all.get(name) ??
      { rows: new Map(), removals: [], statics: { key: keys, cells: new Map() } }
    all.set(name, partition)
    return { partition, shape }
  }
}

/** The statement with numbered places for its values, and what each place has. */
function numbered(cql: string, values: readonly Value[]): readonly [string, Bound] {
  let marks = 0
  const text = cql.replaceAll(/\s+/g, ' ').trim().replaceAll('?', () => `?${marks++}`)
  return [text, (place) => {
    const [, number] = /^\?(\d+)$/.exec(place) ?? []
    if (number !== undefined) return values[Number(number)]!
    return place === 'true' ? true : Number(place)
  }]
}

function writeIn(text: string) {
  const updated = update.exec(text)
  if (updated) {
    const [, table, using = '', set, where, column, expected] = updated
    return [table!, using, set!, where!, column, expected] as const
  }
  const [, table, names, places, using = ''] = insert.exec(text) ?? unknown(text)
  const slots = places!.split(', ')
  const all = names!.split(', ').map((name, at) => `${name} = ${slots[at]}`)
  const isKey = (each: string) => /^(row_key|part) /.test(each)
  return [table!, using, all.filter((each) => !isKey(each)).join(', '),
    all.filter(isKey).join(' AND '), undefined, undefined] as const
}

function optionsIn(using: string, bound: Bound) {
  const [, stamp] = /TIMESTAMP (\S+)/.exec(using) ?? []
  const [, ttl] = /TTL (\S+)/.exec(using) ?? []
  return { stamp: stamp === undefined ? undefined : BigInt(bound(stamp) as bigint),
    ttlS: ttl === undefined ? 0 : Number(bound(ttl)) }
}

/** Cells that a statement sets. A value of null leaves its cell as it is. */
function assignmentsIn(set: string,
  bound: Bound): readonly Pick<Cell, 'column' | 'element' | 'value'>[] {
  return set.split(', ').flatMap((each) => {
    const [, column, element, added, place] =
      /^(\w+)(?:\[(\S+)\])? = (?:(\w+) \+ )?(\S+)$/.exec(each) ?? unknown(each)
    const value = bound(place!)
    if (value === null) return []
    if (added !== undefined) {
      return (value as readonly bigint[]).map((one) => ({ column: column!, element: one,
        value: one })
      )
    }
    return [{ column: column!, value: stored(value),
      element: element === undefined ? null : bound(element) as Scalar }]
  })
}

function put({ removals }: Partition, row: StoredRow, cell: Cell): void {
  const name = cellName(cell.column, cell.element)
  const isRemoved = removals.some(({ covers, stamp }) => stamp >= cell.stamp && covers(row))
  if (!isRemoved && (row.cells.get(name)?.stamp ?? -1n) <= cell.stamp) row.cells.set(name, cell)
}

function rowAt({ rows }: Partition, { clustering, partition }: TableShape,
  keys: Readonly<Record<string, Scalar>>): StoredRow {
  const name = clustering.map((column) => textOf(keys[column])).join('\n')
  const columns = [...partition, ...clustering]
  const row = rows.get(name) ??
    { key: Object.fromEntries(columns.map((column) => [column, keys[column]])), cells: new Map() }
  // A statement that sets only columns of the partition has no row.
  if (clustering.every((column) => column in keys)) rows.set(name, row)
  return row
}

/** The columns that are compared with one value each. */
function equalsIn(where: string, bound: Bound): Readonly<Record<string, Scalar>> {
  return Object.fromEntries(where.split(' AND ').flatMap((each) => {
    const [, column, place] = /^(\w+) = (\S+)$/.exec(each) ?? []
    if (column === undefined) return []
    const value = bound(place!)
    return [[column, column === 'block' ? BigInt(value as bigint) : stored(value)]]
  }))
}

/** A test for the rows of a partition. */
function testOf(where: string, bound: Bound, partition: readonly string[]): Test {
  const tests = where.split(' AND ').map((each): Test => {
    const [, names, op, places] = /^(\(.*?\)|\w+) (=|<=?|>=?|IN|CONTAINS) (.*)$/.exec(each) ??
      unknown(each)
    const columns = listIn(names!)
    if (columns.length === 1 && partition.includes(columns[0]!)) return () => true
    if (op === 'CONTAINS') {
      return (row) => row.cells.has(cellName(columns[0]!, bound(places!) as Scalar))
    }
    const compared = ({ key }: StoredRow, values: readonly Scalar[]) =>
      compareKeys(columns.map((column, at) => [key[column], values[at]]))
    if (op === 'IN') {
      const wanted = places!.startsWith('(')
        ? listIn(places!).map((place) => [bound(place) as Scalar])
        : (bound(places!) as readonly (Scalar | types.Tuple)[]).map(elementsOf)
      return (row) => wanted.some((values) => compared(row, values) === 0)
    }
    const values = listIn(places!).map((place) => bound(place) as Scalar)
    return (row) => {
      const order = compared(row, values)
      return order === 0 ? op!.includes('=') : order < 0 ? op!.startsWith('<') : op!.startsWith('>')
    }
  })
  return (row) => tests.every((test) => test(row))
}

function columnsIn(text: string) {
  return text.split(', ').map((each) => {
    const [, call, column, name] = /^(WRITETIME|TTL)\((\w+)\) AS (\w+)$/.exec(each) ?? []
    return call === undefined
      ? { name: each, column: each, what: 'value' as const }
      : { name: name!, column: column!, what: call === 'TTL' ? 'ttl' as const : 'written' as const }
  })
}

function listIn(text: string): readonly string[] {
  return text.startsWith('(') ? text.slice(1, -1).split(', ') : [text]
}

function elementsOf(value: Scalar | types.Tuple): readonly Scalar[] {
  return typeof value === 'object' && value !== null && 'elements' in value
    ? value.elements as readonly Scalar[]
    : [value as Scalar]
}

function compareKeys(pairs: readonly (readonly [Scalar, Scalar])[]): number {
  return pairs.reduce((order, [a, b]) => order === 0 ? compareCells(a, b) : order, 0)
}

function stored(value: Value): Scalar {
  return value instanceof Uint8Array ? Buffer.from(value) : value as Scalar
}

function cellName(column: string, element: Scalar): string {
  return `${column} ${textOf(element)}`
}

function textOf(value: Scalar): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
}

function unknown(text: string): never {
  throw new Error(`The replica in memory does not know this statement yet: ${text}`)
}
