/** Parses the statements that the store sends: exactly the shapes that it uses. */

import { migrations } from '../../src/store/cassandra/schema/migration.ts'

/** The pseudo column that marks a row as inserted. */
export const marker = ''

export type Cell = string | number | bigint | boolean | Uint8Array | null | undefined

export interface TableShape {
  readonly name: string
  readonly partition: readonly string[]
  /** In their order; descending for all of them or for none. */
  readonly clustering: readonly string[]
  readonly descending: boolean
  readonly readRepair: boolean
  /** Columns outside the key. */
  readonly rest: readonly string[]
}

/** A value of a statement: a bound parameter or a literal. */
type Slot = (params: readonly Cell[]) => Cell

export interface Condition {
  readonly column: string
  readonly op: '=' | '<' | '<=' | '>' | '>='
  readonly value: Cell
}

export interface Change {
  readonly table: TableShape
  /** True for an INSERT: the row exists even if all its cells are empty. */
  readonly inserts: boolean
  /** Including the keys. */
  readonly values: readonly (readonly [column: string, value: Cell])[]
  readonly timestamp: bigint | undefined
  /** For a compare-and-set: what must hold, or `absent` if there must be no row. */
  readonly condition: readonly Condition[] | 'absent' | undefined
  /** For a DELETE of several rows: conditions on clustering columns. */
  readonly range: readonly Condition[] | undefined
}

export interface Question {
  readonly table: TableShape
  readonly columns: readonly string[]
  /** By column: the one whose time of writing it is. */
  readonly times: ReadonlyMap<string, string>
  readonly where: readonly Condition[]
  readonly reversed: boolean
  readonly limit: number
  /** Only the highest value of the one column is wanted. */
  readonly highest: boolean
}

type Parsed =
  | { readonly kind: 'change'; bind(params: readonly Cell[]): Change }
  | { readonly kind: 'question'; bind(params: readonly Cell[]): Question }

const create = /^CREATE TABLE IF NOT EXISTS (\S+) \((.*?)\)( WITH .*)?$/
const add = /^ALTER TABLE (\S+) ADD IF NOT EXISTS (\w+) \w+$/
const insert = new RegExp(/^INSERT INTO (\S+) \((.*?)\) VALUES \((.*?)\)/.source +
  /( IF NOT EXISTS)?( USING TIMESTAMP (\S+))?$/.source)
const remove = /^DELETE FROM (\S+)(?: USING TIMESTAMP (\S+))? WHERE (.*?)$/
const update = /^UPDATE (\S+) SET (.*?) WHERE (.*?) IF (.*)$/
const select = /^SELECT (.*?) FROM (\S+)(?: WHERE (.*?))?(?: ORDER BY (.*?))?(?: LIMIT (\S+))?$/

/** The tables of a keyspace, as the store's own migrations create them. */
export function tablesOf(keyspace: string): ReadonlyMap<string, TableShape> {
  const keyspaces = { keyspace, control: `${keyspace}_control` }
  const made = migrations.flatMap(({ statements }) => statements(keyspaces)).map(oneLine)
  const shapes = made.flatMap((statement) => {
    const [, name, columns, options = ''] = create.exec(statement) ?? []
    return name === undefined ? [] : [shapeOf(name, columns!, options)]
  })
  const added = Map.groupBy(made.flatMap((statement) => {
    const [, name, column] = add.exec(statement) ?? []
    return name === undefined ? [] : [{ name, column: column! }]
  }), ({ name }) => name)
  return new Map(shapes.map((shape) => {
    const columns = added.get(shape.name)?.map(({ column }) => column) ?? []
    return [shape.name, { ...shape, rest: [...shape.rest, ...columns] }]
  }))
}

function shapeOf(name: string, columns: string, options: string): TableShape {
  const alone = /(\w+) \w+ PRIMARY KEY/.exec(columns)
  const both = /PRIMARY KEY \(\((.*?)\)(?:, (.*?))?\)/.exec(`${columns})`)
  if (alone === null && both === null) throw new Error(`the primary key of ${name} is not seen`)
  const partition = alone ? [alone[1]!] : both![1]!.split(', ')
  const clustering = both?.[2]?.split(', ') ?? []
  const names = columns.replace(/, PRIMARY KEY.*$/, '').split(', ')
    .map((column) => column.split(' ')[0]!)
  return {
    name,
    partition,
    clustering,
    rest: names.filter((each) => !partition.includes(each) && !clustering.includes(each)),
    descending: /CLUSTERING ORDER BY \(\w+ DESC/.test(options),
    readRepair: !/read_repair = 'NONE'/.test(options),
  }
}

/** Parses statements; throws for one of an unknown shape. */
export class Interpreter {
  readonly #tables: ReadonlyMap<string, TableShape>
  readonly #known = new Map<string, Parsed>()

  constructor(keyspace: string) {
    this.#tables = tablesOf(keyspace)
  }

  change(cql: string, params: readonly Cell[]): Change {
    const parsed = this.#parsed(cql)
    if (parsed.kind !== 'change') throw unknown(cql)
    return parsed.bind(params)
  }

  question(cql: string, params: readonly Cell[]): Question {
    const parsed = this.#parsed(cql)
    if (parsed.kind !== 'question') throw unknown(cql)
    return parsed.bind(params)
  }

  isQuestion(cql: string): boolean {
    return this.#parsed(cql).kind === 'question'
  }

  #parsed(cql: string): Parsed {
    const known = this.#known.get(cql) ?? this.#parse(cql)
    this.#known.set(cql, known)
    return known
  }

  #parse(cql: string): Parsed {
    let marks = 0
    const text = oneLine(cql).replaceAll('?', () => `?${marks++}`)
    const inserted = insert.exec(text)
    if (inserted) return this.#insert(inserted)
    const removed = remove.exec(text)
    if (removed) return this.#remove(removed)
    const updated = update.exec(text)
    if (updated) return this.#update(updated)
    const selected = select.exec(text)
    if (selected) return this.#select(selected)
    throw unknown(cql)
  }

  #insert([, name, columns, values, absent, , timestamp]: RegExpExecArray): Parsed {
    const table = this.#table(name!)
    const names = columns!.split(', ')
    const slots = values!.split(', ').map(slotOf)
    const stamp = timestamp === undefined ? undefined : slotOf(timestamp)
    return { kind: 'change', bind: (params) => ({
      table,
      inserts: true,
      values: names.map((column, i) => [column, slots[i]!(params)]),
      timestamp: stamp?.(params) as bigint | undefined,
      condition: absent ? 'absent' : undefined,
      range: undefined,
    }) }
  }

  /** A DELETE of one row, which empties all of its cells, or of several. */
  #remove([, name, stamp, where]: RegExpExecArray): Parsed {
    const table = this.#table(name!)
    const keys = conditionsOf(where!)
    const timestampOf = stamp === undefined ? undefined : slotOf(stamp)
    const cells = [marker, ...table.rest].map((column) => [column, null] as const)
    return { kind: 'change', bind: (params) => {
      const conditions = keys(params)
      const named = conditions.map(({ column, value }) => [column, value] as const)
      const range = conditions.filter(({ column }) => table.clustering.includes(column))
      const isWhole = range.length === table.clustering.length &&
        range.every(({ op }) => op === '=')
      return {
        table,
        inserts: false,
        timestamp: timestampOf?.(params) as bigint | undefined,
        condition: undefined,
        values: isWhole ? [...named, ...cells] : named,
        range: isWhole ? undefined : range,
      }
    } }
  }

  #update([, name, set, where, conditions]: RegExpExecArray): Parsed {
    const table = this.#table(name!)
    const assigned = [...set!.split(', '), ...where!.split(' AND ')]
      .map((each) => each.split(' = '))
      .map(([column, slot]) => [column!, slotOf(slot!)] as const)
    const demands = conditionsOf(conditions!)
    return { kind: 'change', bind: (params) => ({
      table,
      inserts: false,
      values: assigned.map(([column, slot]) => [column, slot(params)] as const),
      timestamp: undefined,
      condition: demands(params),
      range: undefined,
    }) }
  }

  #select([, columns, name, where, order, limit]: RegExpExecArray): Parsed {
    const table = this.#table(name!)
    const conditions = where === undefined ? () => [] : conditionsOf(where)
    const most = limit === undefined ? () => Infinity : slotOf(limit)
    const reversed = order !== undefined && / ASC/.test(order) === table.descending
    const [, highest] = /^max\((\w+)\) AS \1$/.exec(columns!) ?? []
    const [names, times] = highest === undefined ? columnsOf(columns!) : [[highest], new Map()]
    return { kind: 'question', bind: (params) => ({
      table,
      columns: names,
      times,
      where: conditions(params),
      reversed,
      limit: Number(most(params)),
      highest: highest !== undefined,
    }) }
  }

  #table(name: string): TableShape {
    const table = this.#tables.get(name)
    if (table === undefined) throw new Error(`there is no table ${name}`)
    return table
  }
}

/** A list (IN) has one value, because a world has one bucket for the rows of a shard. */
function conditionsOf(text: string): (params: readonly Cell[]) => Condition[] {
  const parts = text.split(' AND ').map((each) => {
    const part = each.replace(/ IN \(([^,]+)\)$/, ' = $1')
    const [, column, op, slot] = /^(\w+) (=|<=?|>=?) (\S+)$/.exec(part) ?? []
    if (column === undefined) throw unknown(text)
    return { column, op: op as Condition['op'], slot: slotOf(slot!) }
  })
  return (params) => parts.map(({ column, op, slot }) => ({ column, op, value: slot(params) }))
}

/** The columns, and those of them that are times of writing others. */
function columnsOf(text: string): [names: string[], times: Map<string, string>] {
  const parts = text.split(', ').map((each) => /^WRITETIME\((\w+)\) AS (\w+)$/.exec(each) ?? each)
  const times = parts.flatMap((each) =>
    typeof each === 'string' ? [] : [[each[2]!, each[1]!] as const]
  )
  return [parts.map((each) => typeof each === 'string' ? each : each[2]!), new Map(times)]
}

function slotOf(text: string): Slot {
  const mark = /^\?(\d+)$/.exec(text)
  if (mark) return (params) => params[Number(mark[1])]
  if (/^\d+$/.test(text)) return () => Number(text)
  if (text === 'true') return () => true
  if (/^'.*'$/.test(text)) return () => text.slice(1, -1)
  throw new Error(`what is ${text} in a statement?`)
}

export function holds({ op, value }: Condition, found: Cell): boolean {
  const order = compareCells(found, value)
  switch (op) {
    case '=':
      return order === 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** Null sorts first; bytes sort by content. */
export function compareCells(a: Cell, b: Cell): number {
  if (a == null || b == null) return (a == null ? 0 : 1) - (b == null ? 0 : 1)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  // A number may be a number or a bigint here.
  return a < b ? -1 : a > b ? 1 : 0
}

function oneLine(cql: string): string {
  return cql.replaceAll(/\s+/g, ' ').trim()
}

function unknown(cql: string): Error {
  return new Error(`The simulation does not know this statement yet: ${oneLine(cql)}`)
}
