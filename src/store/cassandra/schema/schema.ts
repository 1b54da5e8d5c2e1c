/** Makes the keyspaces and tables if they are missing, and brings older ones up to date. */

import { errors, types } from 'cassandra-driver'

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, messageOf } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'
import { outcomeOf } from '../driver/driver-error.ts'
import { finishedFrom, migrations, reads } from './migration.ts'
import type { Migration } from './migration.ts'
import { SchemaLock } from './schema-lock.ts'

/** Steps of the schema, and the replication of new keyspaces. */
export interface SchemaOptions {
  readonly connection: Connection
  readonly env: Env
  /** Replicas of each data center, by its name; by default as many as hosts, up to 3. */
  readonly replication?: Readonly<Record<string, number>>
  /** Steps that this program knows; all of them by default. */
  readonly steps?: readonly Migration[]
}

/** Tables that exist before there is a version. */
export const tablesOfTheLock = ['schema_lock', 'schema_version']

/** Version of the keyspaces, as their own table says it. */
interface Version {
  /** The oldest member that can work with the tables, by the steps that it knows. */
  readonly oldest: number
  /** The newest step that was done. */
  readonly newest: number
}

/**
 * Rows of the version table. `oldest` is the first row, because programs that know only the first
 * six steps read it alone, and refuse a number above their own.
 */
const rowNames = { oldest: 'schema', newest: 'newest' } as const

/**
 * Makes and migrates keyspaces and tables. Several members, of several versions, may do this at
 * once. Throws HeddleError with a message for the person who starts the member.
 */
export async function prepareSchema(options: SchemaOptions): Promise<void> {
  const { connection, env, steps = migrations } = options
  try {
    const version = await versionOf(connection)
    refuseNewer(connection, steps, version)
    if (version !== undefined && version.newest >= steps.length) return
    if (version === undefined) {
      // Checked before anything is made, and again below, where no other member can make anything.
      await refuseForeign(connection)
      await makeKeyspaces(options)
    }
    await new SchemaLock(connection, env).hold((lock) => migrate(connection, lock, env, steps))
  } catch (error) {
    throw schemaError(connection, error)
  }
}

async function migrate(connection: Connection, lock: SchemaLock, { log }: Env,
  steps: readonly Migration[]): Promise<void> {
  let version = await versionOf(connection)
  refuseNewer(connection, steps, version)
  if (version === undefined) {
    await refuseForeign(connection)
    await begin(connection)
    log.info('Making the tables in Cassandra.', { keyspace: connection.keyspace })
    version = { oldest: 0, newest: 0 }
  }
  let { oldest, newest } = version
  const isNew = newest === 0
  for (const step of steps.slice(newest)) {
    for (const statement of step.statements(connection)) {
      await lock.renew()
      await connection.execute(statement)
    }
    await connection.agreed()
    // The order matters: a member that dies in between has done the step, and it may be done again.
    // No member of an earlier version has been here, and from now on none may come.
    const needed = isNew && newest + 1 === steps.length ? finishedFrom : step.oldest
    if (needed > oldest) {
      await setNumber(connection, rowNames.oldest, { from: oldest, to: needed })
      oldest = needed
    }
    newest += 1
    if (newest > oldest) {
      await setNumber(connection, rowNames.newest, { from: newest - 1, to: newest })
    }
  }
  // Last: a member that does not read it yet looks into the former tables as well.
  if (isNew) await noteMade(connection)
}

/** Use of a keyspace by earlier versions. */
export interface UpgradeState {
  /** True if an earlier version made the keyspace: its tables of that time may have rows. */
  readonly hasFormer: boolean
  /** True if members of earlier versions are refused: nothing is written for them. */
  readonly isFinished: boolean
}

/** Reads what earlier versions have to do with the keyspace. It must be prepared. */
export async function upgradeStateOf(connection: Connection): Promise<UpgradeState> {
  const [version, made] = await Promise.all([versionOf(connection), numberOf(connection, 'made')])
  return { hasFormer: (made ?? 0) < finishedFrom,
    isFinished: version !== undefined && version.oldest >= finishedFrom }
}

/**
 * From now on programs are refused that do not know what members of this one do. Throws HeddleError
 * `unsupported` if no member of this one has prepared the tables.
 */
export async function finishUpgrade(connection: Connection): Promise<void> {
  const version = await versionOf(connection)
  refuseNewer(connection, migrations, version)
  if (version === undefined || version.newest < finishedFrom) {
    throw new HeddleError('unsupported',
      'No server of this version has run yet: start all members ' +
        'with it first.')
  }
  if (version.oldest >= finishedFrom) return
  await setNumber(connection, rowNames.oldest, { from: version.oldest, to: finishedFrom })
}

/** Version of the keyspaces; undefined if they are new. */
export async function versionOf(connection: Connection): Promise<Version | undefined> {
  const tables = await tablesIn(connection, connection.control)
  if (!tables.includes('schema_version')) return undefined
  const [oldest, newest] = await Promise.all(
    [rowNames.oldest, rowNames.newest].map((name) => numberOf(connection, name)),
  )
  if (oldest === undefined) return undefined
  return { oldest, newest: Math.max(oldest, newest ?? 0) }
}

async function numberOf(connection: Connection, name: string): Promise<number | undefined> {
  const rows = await connection.read({
    cql: `SELECT version FROM ${connection.control}.schema_version WHERE name = ?`,
    values: [name],
  })
  return rows[0] && Number(rows[0].version)
}

function refuseNewer({ keyspace }: Connection, steps: readonly Migration[],
  version: Version | undefined): void {
  if (version === undefined || version.oldest <= steps.length) return
  throw new HeddleError('unsupported', `The keyspace ${keyspace} was written by a newer version ` +
    'of Heddle that this one cannot live with. Start that version, or choose another keyspace ' +
    'with --keyspace.')
}

async function refuseForeign(connection: Connection): Promise<void> {
  for (const keyspace of [connection.keyspace, connection.control]) {
    const tables = await tablesIn(connection, keyspace)
    const foreign = tables.filter((table) => !tablesOfTheLock.includes(table))
    if (foreign.length === 0) continue
    throw new HeddleError('exists', `The keyspace ${keyspace} has tables of another program ` +
      `(${foreign.slice(0, 3).join(', ')}). Choose another keyspace with --keyspace.`)
  }
}

async function begin(connection: Connection): Promise<void> {
  const table = `${connection.control}.schema_version`
  await connection.execute(
    `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, version int) WITH ${reads}`,
  )
  await connection.agreed()
  await connection.swapSurely({
    cql: `INSERT INTO ${table} (name, version) VALUES ('schema', 0) IF NOT EXISTS`,
    values: [],
  })
}

/** Notes with which version the keyspace was made. */
async function noteMade(connection: Connection): Promise<void> {
  await connection.swapSurely({
    cql: `INSERT INTO ${connection.control}.schema_version (name, version) ` +
      'VALUES (?, ?) IF NOT EXISTS',
    values: ['made', finishedFrom],
  })
}

/** The newest step is noted only where it differs from the oldest member. */
async function setNumber(connection: Connection, name: string,
  { from, to }: { readonly from: number; readonly to: number }): Promise<void> {
  const table = `${connection.control}.schema_version`
  await connection.swapSurely({
    cql: `INSERT INTO ${table} (name, version) VALUES (?, ?) IF NOT EXISTS`,
    values: [name, from],
  })
  await connection.swapSurely({
    cql: `UPDATE ${table} SET version = ? WHERE name = ? IF version < ?`,
    values: [to, name, to],
  })
}

/** Makes keyspaces that are missing. Existing ones keep their replication. */
async function makeKeyspaces({ connection, replication }: SchemaOptions): Promise<void> {
  const rows = await connection.read({
    cql: 'SELECT keyspace_name FROM system_schema.keyspaces',
    values: [],
  })
  const known = rows.map((row) => row['keyspace_name'])
  const replicas = replication ??
    { [connection.localDataCenter]: Math.min(3, connection.localHosts()) }
  const missing = [connection.control, connection.keyspace].filter((each) => !known.includes(each))
  for (const keyspace of missing) await connection.execute(keyspaceStatement(keyspace, replicas))
}

function keyspaceStatement(keyspace: string, replicas: Readonly<Record<string, number>>): string {
  const each = Object.entries(replicas).map(([name, count]) => `, '${name}': ${count}`).join('')
  return `CREATE KEYSPACE IF NOT EXISTS ${keyspace} ` +
    `WITH replication = {'class': 'NetworkTopologyStrategy'${each}}`
}

async function tablesIn(connection: Connection, keyspace: string): Promise<string[]> {
  const rows = await connection.read({
    cql: 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?',
    values: [keyspace],
  })
  return rows.map((row) => row['table_name'])
}

function schemaError(connection: Connection, caught: unknown): unknown {
  const cause = caught instanceof HeddleError ? caught.cause : caught
  if (isResponse(cause, types.responseErrorCodes.unauthorized)) {
    const { keyspace, control } = connection
    return new HeddleError('forbidden', `This user may not make or use the keyspaces ${keyspace} ` +
      `and ${control} (${cause.message}). Let an administrator make both, and grant ALL on them.`,
      {}, { cause: caught })
  }
  if (caught instanceof HeddleError) return caught
  const said = messageOf(caught)
  const code = outcomeOf(cause) === 'refused' ? 'invalid' : 'unavailable'
  return new HeddleError(code, `The tables cannot be made in Cassandra: ${said}. ` +
    'See that all of its nodes are up, and start again.', {}, { cause: caught })
}

function isResponse(error: unknown, code: number): error is errors.ResponseError {
  return error instanceof errors.ResponseError && error.code === code
}
