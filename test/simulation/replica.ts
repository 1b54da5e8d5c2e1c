/** One replica's copy of every table: the newest timestamp wins, cell by cell. */

import { compareCells, holds, marker } from './cql.ts'
import type { Cell, Condition, Question, TableShape } from './cql.ts'

interface StampedCell {
  readonly value: Cell
  readonly timestamp: bigint
}

/** Cells by column; the one at `marker` says that the row was inserted. */
export interface StoredCells {
  /** Values of the clustering columns. */
  readonly key: readonly Cell[]
  readonly cells: ReadonlyMap<string, StampedCell>
}

/** A range tombstone: it also removes rows that arrive later but were written before it. */
export interface Grave {
  /** Conditions on clustering columns. */
  readonly range: readonly Condition[]
  readonly timestamp: bigint
}

/** Rows of a partition that a question selects. */
export interface PartitionRows {
  readonly partition: readonly Cell[]
  readonly rows: readonly StoredCells[]
  readonly graves: readonly Grave[]
}

/** Rows of one partition, written together. */
export interface Mutation {
  readonly table: TableShape
  readonly partition: readonly Cell[]
  readonly rows: readonly StoredCells[]
  readonly graves: readonly Grave[]
}

interface Row {
  readonly key: readonly Cell[]
  cells: Map<string, StampedCell>
}

/** What this replica has promised and accepted for the compare-and-sets of a partition. */
export interface PaxosState {
  promised: number
  accepted: { readonly ballot: number; readonly mutation: Mutation } | undefined
  committed: { readonly ballot: number; readonly mutation: Mutation } | undefined
}

interface Partition {
  readonly key: readonly Cell[]
  /** In the order of the table. */
  readonly rows: Row[]
  readonly graves: Grave[]
  readonly paxos: PaxosState
}

export class Replica {
  readonly #partitions = new Map<string, Map<string, Partition>>()

  apply({ table, partition, rows, graves }: Mutation): void {
    const stored = this.#partition(table, partition)
    stored.graves.push(...graves)
    if (graves.length > 0) {
      for (const row of stored.rows) row.cells = new Map(buried(table, row, graves).cells)
    }
    for (const written of rows) {
      const { key, cells } = buried(table, written, stored.graves)
      const row = rowAt(stored.rows, key, table.descending)
      for (const [column, cell] of cells) {
        const known = row.cells.get(column)
        if (known === undefined || newer(cell, known)) row.cells.set(column, cell)
      }
    }
  }

  paxos(table: TableShape, partition: readonly Cell[]): PaxosState {
    return this.#partition(table, partition).paxos
  }

  /**
   * Rows of the partition, or of all partitions if none is named, with the requested cells. No
   * limit applies here, since other replicas may know that some of the rows are gone.
   */
  read(question: Question, after?: readonly Cell[]): ReadonlyMap<string, PartitionRows> {
    const { table, where, columns, reversed } = question
    const partition = partitionOf(question)
    const on = (column: string) => where.filter((condition) => condition.column === column)
    const conditions = table.clustering.map(on)
    const found = new Map<string, PartitionRows>()
    const all = this.#partitions.get(table.name)
    for (const name of partition === undefined ? all?.keys() ?? [] : [textOf(partition)]) {
      const named = all?.get(name)
      if (named === undefined) continue
      const { key: own, rows, graves } = named
      if (!table.partition.every((column, i) => on(column).every((one) => holds(one, own[i])))) {
        continue
      }
      const order = reversed ? rows.toReversed() : rows
      const wanted: StoredCells[] = []
      for (const row of order) {
        if (after && !(compareKeys(row.key, after, table.descending !== reversed) > 0)) continue
        if (!conditions.every((each, i) => each.every((one) => holds(one, row.key[i])))) continue
        const cells = new Map(
          [...row.cells].filter(([column]) => column === marker || columns.includes(column)),
        )
        wanted.push({ key: row.key, cells })
      }
      found.set(name, { partition: own, rows: wanted, graves })
    }
    return found
  }

  #partition(table: TableShape, key: readonly Cell[]): Partition {
    const partitions = this.#partitions.get(table.name) ?? new Map<string, Partition>()
    this.#partitions.set(table.name, partitions)
    const text = textOf(key)
    const partition = partitions.get(text) ??
      { key, rows: [], graves: [],
        paxos: { promised: 0, accepted: undefined, committed: undefined } }
    partitions.set(text, partition)
    return partition
  }
}

/** Undefined if the question is for all partitions. */
export function partitionOf({ table, where }: Question): readonly Cell[] | undefined {
  const key = table.partition.map((column) =>
    where.find((condition) => condition.column === column && condition.op === '=')
  )
  if (key.some((condition) => condition === undefined)) return undefined
  return key.map((condition) => condition!.value)
}

/** The row without the cells that range tombstones remove. */
export function buried(table: TableShape, row: StoredCells, graves: readonly Grave[]): StoredCells {
  const own = graves.filter(({ range }) =>
    range.every((condition) =>
      holds(condition, row.key[table.clustering.indexOf(condition.column)])
    )
  )
  if (own.length === 0) return row
  const timestamp = own.map((grave) => grave.timestamp).reduce((a, b) => (b > a ? b : a))
  return { key: row.key, cells: new Map(
    [...row.cells].map((
      [name, cell],
    ) => [name, cell.timestamp <= timestamp ? { value: null, timestamp } : cell]),
  ) }
}

/** Whether any cell has a value. */
export function isThere({ cells }: StoredCells): boolean {
  return [...cells.values()].some(({ value }) => value != null)
}

export function textOf(key: readonly Cell[]): string {
  return key.map(String).join('\n')
}

export function compareKeys(a: readonly Cell[], b: readonly Cell[], descending: boolean): number {
  for (const [i, cell] of a.entries()) {
    const order = compareCells(cell, b[i])
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

export function newer(cell: StampedCell, than: StampedCell): boolean {
  if (cell.timestamp !== than.timestamp) return cell.timestamp > than.timestamp
  return compareCells(cell.value, than.value) > 0
}

function rowAt(rows: Row[], key: readonly Cell[], descending: boolean): Row {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareKeys(rows[middle]!.key, key, descending)
    if (order === 0) return rows[middle]!
    if (order < 0) low = middle + 1
    else high = middle
  }
  const row: Row = { key, cells: new Map() }
  rows.splice(low, 0, row)
  return row
}
