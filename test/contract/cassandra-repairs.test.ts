/** The history of repairs on a real Cassandra. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { readRepairs } from '../../src/store/cassandra/cluster/repair-history.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { cassandraForTests } from '../support/cassandra.ts'

const cassandra = await cassandraForTests()
const hourMs = 3_600_000

describe.skipIf(!cassandra)('the history of repairs', () => {
  let connection: Connection
  let table: string

  beforeAll(async () => {
    connection = await Connection.open({ env: systemEnv({ level: 'silent' }),
      keyspace: `repairs_${randomUUID().slice(0, 8)}`, contactPoints: cassandra!.contactPoints,
      localDataCenter: cassandra!.dataCenter })
    table = `${connection.keyspace}.thing`
    await connection.execute(`CREATE KEYSPACE ${connection.keyspace} WITH replication = ` +
      `{'class': 'NetworkTopologyStrategy', '${cassandra!.dataCenter}': 1}`)
    await connection.execute(`CREATE TABLE ${table} (id int PRIMARY KEY)`)
    await connection.execute(`CREATE TABLE ${connection.keyspace}.named (id int PRIMARY KEY) ` +
      `WITH id = ${randomUUID()}`)
    await connection.execute(`CREATE TABLE ${connection.keyspace}.expiring (id int PRIMARY KEY) ` +
      'WITH gc_grace_seconds = 3600')
    // One node is no quorum of three replicas.
    if (connection.localHosts() > 1) return
    await connection.execute('ALTER KEYSPACE system_distributed WITH replication = ' +
      `{'class': 'NetworkTopologyStrategy', '${cassandra!.dataCenter}': 1}`)
  })
  afterAll(async () => {
    await connection.execute(`DROP KEYSPACE ${connection.keyspace}`)
    await connection.close()
  })

  const read = () => readRepairs(connection, [connection.keyspace])
  const plant = (hoursAgo: number, ...ranges: readonly string[]) =>
    connection.write({ cql: 'INSERT INTO system_distributed.parent_repair_history (parent_id, ' +
      'keyspace_name, columnfamily_names, started_at, successful_ranges) VALUES (now(), ' +
      `?, {'thing', 'expiring'}, ${Date.now() - hoursAgo * hourMs}, ` +
      `{${ranges.map((each) => `'${each}'`).join()}}) USING TTL 600`,
      values: [connection.keyspace] })

  it('tells since when all of a table was repaired', async () => {
    const never = { gcGraceMs: 240 * hourMs, createdAtMs: expect.closeTo(Date.now(), -6) }
    const named = { ...never, table: `${connection.keyspace}.named` }
    expect(await read()).toEqual([named, { ...never, table }])
    await plant(5, '(-100,0]')
    expect(await read()).toEqual([named, { ...never, table }])
    await plant(2, '(0,100]', '(100,-100]')
    const fiveHoursAgo = expect.closeTo(Date.now() - 5 * hourMs, -6)
    expect(await read()).toEqual([named, { ...never, table, repairedAtMs: fiveHoursAgo }])
  })

  it('is missing where it cannot be read', async () => {
    const forbidden = { read: connection.read.bind(connection), pages: () => {
      throw new HeddleError('forbidden')
    } }
    expect(await readRepairs(forbidden, [connection.keyspace])).toBeUndefined()
  })
})
