/** The driver's own connection, renewed while it is being renewed. */

import { Client } from 'cassandra-driver'
import { expect, it } from 'vitest'
import { systemEnv } from '../../cluster/index.ts'
import { clientOptions } from '../../src/store/cassandra/driver/client-options.ts'
import { renewOneAtATime } from '../../src/store/cassandra/driver/control-connection.ts'
import { cassandraForTests } from '../support/cassandra.ts'

const cassandra = await cassandraForTests()
const env = systemEnv({ level: 'silent' })

interface ControlConnection {
  connection: unknown
  _refresh(): Promise<void>
  _refreshHosts(...args: unknown[]): Promise<void>
}

it.skipIf(!cassandra)('is renewed one at a time, and works in the end', async () => {
  const { contactPoints, dataCenter } = cassandra!
  const client = new Client(clientOptions(
    { env, contactPoints, localDataCenter: dataCenter, keyspace: 'any' },
  ))
  renewOneAtATime(client, env)
  await client.connect()
  const { controlConnection: control } = client as unknown as {
    readonly controlConnection: ControlConnection
  }
  const refreshHosts = control._refreshHosts.bind(control)
  const renewals: Promise<void>[] = []
  control._refreshHosts = async (...args) => {
    if (renewals.length > 1) return refreshHosts(...args)
    // The driver learns that the host is gone just when its answer fails.
    renewals.push(control._refresh())
    throw new Error('The connection was cut.')
  }
  renewals.push(control._refresh())
  await renewals[0]
  await Promise.all(renewals)
  expect(control.connection).not.toBeNull()
  await control._refresh()
  expect((await client.execute('SELECT key FROM system.local')).rows).toHaveLength(1)
  await client.shutdown()
})
