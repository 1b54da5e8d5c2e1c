/** Merges the answers of several replicas: the newest value of each cell. */

import type { TableShape } from './cql.ts'
import { buried, compareKeys, isThere, newer, textOf } from './replica.ts'
import type { Mutation, PartitionRows, StoredCells } from './replica.ts'

type Answer = ReadonlyMap<string, PartitionRows>

export interface Merged {
  readonly partitions: readonly PartitionRows[]
  /** By answer: what its replica lacks of the merged rows. */
  readonly repairs: readonly (readonly Mutation[])[]
}

export interface MergeOptions {
  readonly table: TableShape
  readonly reversed: boolean
  readonly limit: number
}

export function merged(answers: readonly Answer[], options: MergeOptions): Merged {
  const { table, reversed, limit } = options
  const names = new Set(answers.flatMap((answer) => [...answer.keys()]))
  const repairs: Mutation[][] = answers.map(() => [])
  const partitions: PartitionRows[] = []
  for (const name of names) {
    const parts = answers.map((answer) => answer.get(name))
    const { partition } = parts.find((part) => part !== undefined)!
    const lists = parts.map((part) =>
      new Map((part?.rows ?? []).map((row) => [textOf(row.key), row]))
    )
    const keys = new Map(lists.flatMap((list) => [...list]).map(([text, { key }]) => [text, key]))
    const order = [...keys].sort(([, a], [, b]) => compareKeys(a, b, table.descending !== reversed))
    const rows: StoredCells[] = []
    const graves = parts.flatMap((part) => part?.graves ?? [])
    for (const [text] of order) {
      if (rows.length >= limit) break
      const versions = lists.map((list) => list.get(text))
      const known = versions.filter((version) => version !== undefined)
      const row = buried(table, mergedRow(known)!, graves)
      if (isThere(row)) rows.push(row)
      for (const [i, version] of versions.entries()) {
        const lacking = [...row.cells].filter(([column, cell]) => {
          const known = version?.cells.get(column)
          return known === undefined || newer(cell, known)
        })
        if (lacking.length === 0) continue
        repairs[i]!.push({ table, partition, graves: [],
          rows: [{ key: row.key, cells: new Map(lacking) }] })
      }
    }
    partitions.push({ partition, rows, graves })
  }
  return { partitions, repairs }
}

/** Undefined where there are no versions. */
export function mergedRow(versions: readonly StoredCells[]): StoredCells | undefined {
  const [first, ...others] = versions
  if (first === undefined || others.length === 0) return first
  const cells = new Map(first.cells)
  for (const other of others) {
    for (const [column, cell] of other.cells) {
      const known = cells.get(column)
      if (known === undefined || newer(cell, known)) cells.set(column, cell)
    }
  }
  return { key: first.key, cells }
}
