/** The tables on three hosts of Cassandra: created in one go, and then known to each host. */

import { Client } from 'cassandra-driver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { migrations } from '../../src/store/cassandra/schema/migration.ts'
import { prepareSchema, tablesOfTheLock } from '../../src/store/cassandra/schema/schema.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { repeats } from '../support/repeats.ts'

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('the tables on three hosts', () => {
  let admin: Client

  beforeAll(async () => {
    const { contactPoints, dataCenter: localDataCenter } = cassandra!
    admin = new Client({ contactPoints: [...contactPoints], localDataCenter })
    await admin.connect()
  })
  afterAll(() => admin.shutdown())

  const times = repeats({ day: 1, night: 2 })
  it.each(Array.from({ length: times }, (_, time) => time + 1))(
    'are known to each as soon as they are created (%i)',
    async () => {
      const place = newKeyspace(cassandra!)
      const env = systemEnv({ level: 'silent' })
      const connection = await Connection.open({
        ...place,
        env,
        localDataCenter: place.dataCenter,
      })
      await prepareSchema({ connection, env })
      const known = await Promise.all(admin.hosts.values().map(async (host) => {
        const cql = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name IN (?, ?)'
        const { rows } = await admin.execute(cql, [place.keyspace, `${place.keyspace}_control`], {
          prepare: true,
          host,
        })
        return rows.length
      }))
      const made = migrations.flatMap(({ statements }) => statements(connection))
        .filter((statement) => statement.startsWith('CREATE TABLE'))
      const all = made.length + tablesOfTheLock.length
      expect(known).toEqual([all, all, all])
      await connection.close()
      await dropKeyspace(place)
    },
  )
})
