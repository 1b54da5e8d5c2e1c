/** Creation of the tables in Cassandra: once, by any member, and not beside foreign tables. */

import { Client } from 'cassandra-driver'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { readSettings } from '../../src/store/cassandra/cluster/setting-table.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { migrations } from '../../src/store/cassandra/schema/migration.ts'
import type { Keyspaces, Migration } from '../../src/store/cassandra/schema/migration.ts'
import { finishUpgrade, prepareSchema,
  upgradeStateOf } from '../../src/store/cassandra/schema/schema.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'

const cassandra = await cassandraForTests()
const env = systemEnv({ level: 'silent' })

describe.skipIf(!cassandra)('the tables in Cassandra', () => {
  const own = newKeyspace(cassandra!)
  let admin: Client
  const { keyspace } = own
  /** Of members, which take turns. */
  const open: Connection[] = []
  let turn = 0
  /** Tables that a test has added. */
  const added = new Set<string>()
  /** What the keyspace says of its version, as this program leaves it. */
  let whole: readonly (readonly [string, number])[] = []

  beforeAll(async () => {
    admin = new Client({ ...cassandra!, contactPoints: [...cassandra!.contactPoints],
      localDataCenter: cassandra!.dataCenter, socketOptions: { readTimeout: 60_000 } })
    await admin.connect()
  })
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()))
    await admin.shutdown()
    await dropKeyspace(own)
  })
  // Making the tables takes longer than the tests: the first makes them, each leaves them whole.
  afterEach(async () => {
    for (const table of added) {
      await admin.execute(`DROP TABLE IF EXISTS ${own.keyspace}.${table}`)
    }
    added.clear()
    for (const [name, version] of whole) {
      await admin.execute(`UPDATE ${own.keyspace}_control.schema_version SET version = ? ` +
        'WHERE name = ? IF EXISTS', [version, name], { prepare: true })
    }
  })

  const connect = (keyspace = own.keyspace) =>
    Connection.open({ env, contactPoints: cassandra!.contactPoints,
      localDataCenter: cassandra!.dataCenter, keyspace })
  async function aMember(): Promise<Connection> {
    if (open.length < 2) open.push(await connect())
    return open[turn++ % open.length]!
  }
  const prepare = async () => prepareSchema({ connection: await aMember(), env })

  async function tables(keyspace = own.keyspace): Promise<string[]> {
    const { rows } = await admin.execute('SELECT table_name FROM system_schema.tables ' +
      'WHERE keyspace_name IN (?, ?)', [keyspace, `${keyspace}_control`], { prepare: true })
    return rows.map((row) => row['table_name'] as string).sort()
  }

  it('are created by one of several members that start at once', async () => {
    const members = await Promise.all(Array.from({ length: 4 }, () => connect()))
    open.push(...members)
    await Promise.all(members.map((connection) => prepareSchema({ connection, env })))
    const { rows } = await admin.execute(
      `SELECT name, version FROM ${keyspace}_control.schema_version`,
    )
    whole = rows.map((row) => [row['name'], row['version']] as const)
    expect(await tables()).toEqual(['api_key', 'assistant_row', 'billing', 'branch', 'branch_need',
      'cron_row', 'document', 'feedback', 'feedback_order', 'feedback_token', 'feedback_waiting',
      'item_row', 'limit_admit', 'log', 'log_chunk', 'member_beat', 'node_session', 'rollup', 'run',
      'run_hour', 'run_order', 'run_row', 'run_time', 'schema_lock', 'schema_version', 'setting',
      'shard_owner', 'span_bucket', 'span_file', 'span_gone', 'span_head', 'span_location',
      'thread_row', 'trace_block'])
    const settings = await Promise.all(members.map((member) => readSettings(member, env)))
    expect(settings).toEqual(
      members.map(() => ({ shards: 256, buckets: 4, secret: settings[0]!.secret })),
    )
  })

  /** As a member does that knows only the steps before the one table of runs. */
  const prepareAsEarlier = async () =>
    prepareSchema({ connection: await aMember(), env, steps: migrations.slice(0, 12) })

  it('refuse members of earlier versions if they are new, and not if those made them', async () => {
    await prepare()
    expect(await upgradeStateOf(await aMember())).toEqual({ hasFormer: false, isFinished: true })
    await expect(prepareAsEarlier()).rejects.toMatchObject({ code: 'unsupported' })
    for (const [name, version] of [['schema', 6], ['newest', 12], ['made', 12]] as const) {
      await admin.execute(`UPDATE ${keyspace}_control.schema_version SET version = ? ` +
        'WHERE name = ? IF EXISTS', [version, name], { prepare: true })
    }
    await prepareAsEarlier()
    await prepare()
    expect(await upgradeStateOf(await aMember())).toEqual({ hasFormer: true, isFinished: false })
    await prepareAsEarlier()

    await finishUpgrade(await aMember())
    await finishUpgrade(await aMember())
    expect(await upgradeStateOf(await aMember())).toEqual({ hasFormer: true, isFinished: true })
    await expect(prepareAsEarlier()).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('are not finished before a member of this version has prepared them', async () => {
    await prepare()
    for (const [name, version] of [['schema', 6], ['newest', 12]] as const) {
      await admin.execute(`UPDATE ${keyspace}_control.schema_version SET version = ? ` +
        'WHERE name = ? IF EXISTS', [version, name], { prepare: true })
    }
    await expect(finishUpgrade(await aMember())).rejects.toMatchObject({ code: 'unsupported' })
    await prepare()
    await finishUpgrade(await aMember())
  })

  it('stay as they are when a member restarts, and so do fixed settings', async () => {
    await prepare()
    await readSettings(await aMember(), env)
    await admin.execute(`UPDATE ${keyspace}_control.setting SET value = '64' ` +
      "WHERE name = 'shards' IF EXISTS")
    await prepare()
    expect(await readSettings(await aMember(), env)).toMatchObject({ shards: 64, buckets: 4 })
  })

  it('are completed if a member died while it created them', async () => {
    await prepare()
    const before = await tables()
    await admin.execute(`DROP TABLE ${keyspace}.run_order`)
    for (const name of ['schema', 'newest']) {
      await admin.execute(`UPDATE ${keyspace}_control.schema_version SET version = 0 ` +
        `WHERE name = '${name}' IF EXISTS`)
    }
    await prepare()
    expect(await tables()).toEqual(before)
  })

  it('are left alone if a newer program created them', async () => {
    await prepare()
    await admin.execute(`UPDATE ${keyspace}_control.schema_version SET version = 99 ` +
      "WHERE name = 'schema' IF EXISTS")
    await expect(prepare()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('newer version') as string,
    })
  })

  const adding = (table: string): Migration => {
    added.add(table)
    return { oldest: migrations.length, statements: (
      at,
    ) => [`CREATE TABLE IF NOT EXISTS ${at.keyspace}.${table} (a int PRIMARY KEY)`] }
  }
  /** As a member does that knows these steps after those of today. */
  const prepareAsLater = async (...steps: readonly Migration[]) =>
    prepareSchema({ connection: await aMember(), env, steps: [...migrations, ...steps] })

  it('stay usable for members of the version before while others add some', async () => {
    await prepare()
    const before = await tables()
    const [one, two] = [adding('later_one'), adding('later_two')]
    await Promise.all([prepareAsLater(one), prepare(), prepareAsLater(one)])
    await prepare()
    await prepareAsLater(one, two)
    await prepareAsLater(one)
    await prepare()
    expect(await tables()).toEqual([...before, 'later_one', 'later_two'].sort())
    // What a member of before reads, which knows one number.
    const { rows } = await admin.execute('SELECT version FROM ' +
      `${keyspace}_control.schema_version WHERE name = 'schema'`)
    expect(rows[0]!['version']).toBe(migrations.length)
  })

  it('are refused by members that a later step cannot live with', async () => {
    const taking = { oldest: migrations.length + 1,
      statements: (at: Keyspaces) => [`DROP TABLE IF EXISTS ${at.keyspace}.later_one`] }
    await prepareAsLater(adding('later_one'), taking)
    await expect(prepare()).rejects.toMatchObject({ code: 'unsupported' })
    await prepareAsLater(adding('later_one'))
    await prepareAsLater(adding('later_one'), taking)
    expect(await tables()).not.toContain('later_one')
  })

  it('are not created beside those of another program', async () => {
    const foreign = newKeyspace(cassandra!)
    const connection = await connect(foreign.keyspace)
    onTestFinished(async () => {
      await connection.close()
      await dropKeyspace(foreign)
    })
    await admin.execute(`CREATE KEYSPACE ${foreign.keyspace} WITH replication = ` +
      `{'class': 'NetworkTopologyStrategy', '${cassandra!.dataCenter}': 1}`)
    await admin.execute(`CREATE TABLE ${foreign.keyspace}.log (a int PRIMARY KEY)`)
    await expect(prepareSchema({ connection, env })).rejects.toMatchObject({
      message: expect.stringContaining('another program (log)') as string,
    })
    expect(await tables(foreign.keyspace)).toEqual(['log'])
  })
})
