/** Times of the last repairs of tables, by the history that Cassandra keeps for 30 days. */

import { types } from 'cassandra-driver'

import { CodedError, HeddleError } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'
import { repairedSince } from './repair-coverage.ts'
import type { Repair } from './repair-coverage.ts'

/** Age of a table's repairs, against the time for which it remembers deletions. */
export interface TableRepair {
  /** Name of the table, with its keyspace. */
  readonly table: string
  /** The time after which Cassandra forgets that a row was deleted. */
  readonly gcGraceMs: number
  readonly createdAtMs: number
  /** The begin of the repairs that all rows have been through since; missing if there are none. */
  readonly repairedAtMs?: number
}

type HistoryReader = Pick<Connection, 'read' | 'pages'>

/** Rows of tables that forget sooner expire. One that comes back does no harm. */
const repairedGraceS = 24 * 60 * 60
/** Repairs of a keyspace that are read. A tool that repairs piece by piece makes some thousands. */
const repairsMax = 50_000
const pageRows = 1_000

/** The tables of some keyspaces that need repairs. Undefined if the history cannot be read. */
export async function readRepairs(connection: HistoryReader,
  keyspaces: readonly string[]): Promise<readonly TableRepair[] | undefined> {
  try {
    return (await Promise.all(keyspaces.map((each) => repairsIn(connection, each)))).flat()
  } catch (error) {
    if (error instanceof CodedError) return undefined
    throw error
  }
}

async function repairsIn(connection: HistoryReader,
  keyspace: string): Promise<readonly TableRepair[]> {
  const [tables, repairs] = await Promise.all([
    connection.read({
      cql: 'SELECT table_name, id, gc_grace_seconds FROM system_schema.tables ' +
        'WHERE keyspace_name = ?',
      values: [keyspace],
    }),
    repairsByTable(connection, keyspace),
  ])
  const madeMs = tables.flatMap((row) => madeAtMs(row['id']))
  // Some are named otherwise. Tables of a keyspace are made together, but for those of upgrades.
  const firstMs = madeMs.length === 0 ? 0 : Math.min(...madeMs)
  return tables.flatMap((row) => {
    const [name, graceS] = [row['table_name'], row['gc_grace_seconds']]
    if (graceS < repairedGraceS) return []
    const repairedAtMs = repairedSince(repairs.get(name) ?? [])
    return [{ table: `${keyspace}.${name}`, gcGraceMs: graceS * 1_000,
      createdAtMs: madeAtMs(row['id'])[0] ?? firstMs,
      ...repairedAtMs !== undefined && { repairedAtMs } }]
  })
}

async function repairsByTable(connection: HistoryReader,
  keyspace: string): Promise<ReadonlyMap<string, readonly Repair[]>> {
  const found = new Map<string, Repair[]>()
  let count = 0
  const statement = { cql: 'SELECT columnfamily_names, started_at, successful_ranges ' +
    'FROM system_distributed.parent_repair_history WHERE keyspace_name = ? ALLOW FILTERING',
    values: [keyspace] }
  for await (const page of connection.pages(statement, pageRows)) {
    count += page.length
    if (count > repairsMax) throw new HeddleError('full', 'The history of repairs is too long.')
    for (const row of page) {
      const ranges = row['successful_ranges']
      const startedAt: unknown = row['started_at']
      if (ranges === null || !(startedAt instanceof Date)) continue
      const repair = { startedAtMs: startedAt.getTime(), ranges }
      for (const table of row['columnfamily_names']) {
        found.set(table, [...found.get(table) ?? [], repair])
      }
    }
  }
  return found
}

/** Cassandra names tables by the time of their making, unless a name is given. */
function madeAtMs(id: unknown): readonly number[] {
  return id instanceof types.Uuid && id.toString()[14] === '1'
    ? [new types.TimeUuid(id.getBuffer()).getDate().getTime()]
    : []
}
