/** A start that cannot work is refused soon, in one sentence that says what to do. */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCassandra } from '../../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../../scripts/cassandra/library.ts'
import { systemEnv } from '../../../cluster/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import { openCassandraStore } from '../../../src/store/cassandra/index.ts'
import { migrations } from '../../../src/store/cassandra/schema/migration.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { isNight } from '../../support/repeats.ts'
import { failToStart, startServer } from '../../support/server-process.ts'
import { tookMs } from '../../support/stillness.ts'
import { cql, createKeyspace } from './cql.ts'

const cassandra = await cassandraForTests()
/** Whether nodes of our own, with other settings, cannot be started here. */
const noNodes = await whatIsMissing() !== undefined
const nobody = { contactPoints: ['127.0.0.1'], dataCenter: 'us' }

/** On a machine that is busy with other tests; what is tried again takes longer by far. */
const soonMs = 10_000
/** With the start of a process, of which a busy machine makes half a minute. */
const processSoonMs = 40_000

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'heddle-refused-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

/** The one sentence with which the process of a server ends that cannot start. */
async function refusalOfProcess(keyspace: CassandraKeyspace,
  env: Record<string, string> = {}): Promise<string> {
  const began = performance.now()
  const { code, signal, output } = await failToStart({ project: 'conformance', dataDir,
    cassandra: keyspace, env })
  expect({ code, signal }, output).toEqual({ code: 1, signal: null })
  expect(tookMs(began)).toBeLessThan(processSoonMs)
  expect(output).toMatch(/^heddle: [^\n]+\.\n$/)
  return output
}

/** The same sentence, where it is made: in the store that such a server would open. */
async function refusal({ dataCenter, ...place }: CassandraKeyspace,
  user: { readonly user?: string; readonly password?: string } = {}): Promise<string> {
  const began = performance.now()
  const opening = openCassandraStore({ ...place, ...user, localDataCenter: dataCenter,
    commit: 'validate', env: systemEnv({ level: 'silent' }), directory: dataDir,
    onIndexLost: (reason) => {
      throw new Error(reason)
    } })
  const { message } = await opening.then(async (store) => {
    await store.close()
    throw new Error('it was opened')
  }, HeddleError.from)
  expect(tookMs(began)).toBeLessThan(soonMs)
  expect(message).toMatch(/^[^\n]+\.$/)
  return message
}

describe.concurrent('contact points', () => {
  const at = (...contactPoints: readonly string[]) => ({ ...newKeyspace(nobody), contactPoints })

  it('where nothing listens are named', async () => {
    const message = await refusalOfProcess(at('127.0.0.66', '127.0.0.67'))
    expect(message).toContain('cannot be reached at 127.0.0.66, 127.0.0.67')
    expect(message).toContain('--contact-points')
  })

  it('that cannot be resolved are named', async () => {
    expect(await refusal(at('no-such-host.invalid'))).toContain('no-such-host.invalid')
  })

  it('that do not answer are given up', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    const point = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    try {
      expect(await refusal(at(point))).toContain(`${point}: there is no answer`)
    } finally {
      silent.close()
    }
  })

  it('that are another kind of server are refused', async () => {
    const other = createServer((socket) =>
      socket.on('error', () => {})
        .end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    )
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const point = `127.0.0.1:${(other.address() as AddressInfo).port}`
    try {
      expect(await refusal(at(point))).toContain(`cannot be reached at ${point}`)
    } finally {
      other.close()
    }
  })
})

describe.skipIf(!cassandra)('a cluster', () => {
  const place = newKeyspace(cassandra!)
  const control = `${place.keyspace}_control`
  afterAll(() => dropKeyspace(place))

  it('without the given data center names those that it has', async () => {
    const message = await refusal({ ...place, dataCenter: 'mars' })
    expect(message).toContain('no data center mars')
    expect(message).toContain(`it has ${cassandra!.dataCenter}.`)
    expect(message).toContain('--local-datacenter')
  })

  it('refuses a malformed keyspace name', async () => {
    expect(await refusal({ ...place, keyspace: 'No-Name' })).toContain('No-Name')
  })

  it('whose keyspace another program uses is left alone', async () => {
    const table = `${place.keyspace}.users`
    await cql(place, createKeyspace(place.keyspace, place),
      `CREATE TABLE ${table} (id int PRIMARY KEY)`)
    const message = await refusal(place)
    expect(message).toContain(`The keyspace ${place.keyspace} has tables of another program`)
    expect(message).toContain('users')
    expect(await cql(place, `SELECT * FROM ${table}`)).toEqual([])
    expect(await tablesOf(place.keyspace)).toEqual(['users'])
    await cql(place, `DROP TABLE ${table}`)
  })

  it('whose keyspace has a foreign table with one of our names is left alone', async () => {
    const table = `${place.keyspace}.log`
    await cql(place, `CREATE TABLE ${table} (id int PRIMARY KEY)`)
    expect(await refusal(place)).toContain('tables of another program (log)')
    expect(await tablesOf(place.keyspace)).toEqual(['log'])
    await cql(place, `DROP TABLE ${table}`)
  })

  it('whose tables are newer than the program is left alone', async () => {
    await dropKeyspace(place)
    const table = `${control}.schema_version`
    await cql(place, createKeyspace(control, place), createKeyspace(place.keyspace, place),
      `CREATE TABLE ${table} (name text PRIMARY KEY, version int)`,
      `INSERT INTO ${table} (name, version) VALUES ('schema', ${migrations.length + 1})`)
    const message = await refusal(place)
    expect(message).toContain(`${place.keyspace} was written by a newer version`)
    expect(await tablesOf(place.keyspace)).toEqual([])
  })

  async function tablesOf(keyspace: string): Promise<unknown[]> {
    const rows = await cql(place, 'SELECT table_name FROM system_schema.tables ' +
      `WHERE keyspace_name = '${keyspace}'`)
    return rows.map((row) => row['table_name'])
  }
})

// A Cassandra of its own, and a process for each refusal: by night.
describe.skipIf(noNodes || !isNight)('a cluster that asks for passwords', () => {
  const admin = { username: 'cassandra', password: 'cassandra' }
  const as = (user: string) => ({ HEDDLE_CASSANDRA_USER: user,
    HEDDLE_CASSANDRA_PASSWORD: 'secret' })
  const inStore = (user: string) => ({ user, password: 'secret' })
  let own: Cassandra
  let place: CassandraKeyspace

  beforeAll(async () => {
    own = await startCassandra(
      { nodes: 1, firstAddress: '127.0.0.61', light: true, fleeting: true, passwords: true },
    )
    place = { contactPoints: own.contactPoints, dataCenter: own.dataCenter, keyspace: 'own' }
    await asAdmin(
      ...['little', 'enough', 'reader'].map((user) =>
        `CREATE ROLE ${user} WITH PASSWORD = 'secret' AND LOGIN = true`
      ),
    )
  })
  afterAll(() => own?.close())

  const asAdmin = (...statements: readonly string[]) =>
    cql({ ...place, credentials: admin }, ...statements)
  const grant = (what: string, user: string) =>
    asAdmin(
      `GRANT ${what} ON KEYSPACE own TO ${user}`,
      `GRANT ${what} ON KEYSPACE own_control TO ${user}`,
    )

  it('asks for a user and a password if none are given', async () => {
    expect(await refusalOfProcess(place)).toContain('asks for a user and a password')
  })

  it('refuses a wrong password and does not repeat it', async () => {
    const message = await refusalOfProcess(place, { ...as('little'),
      HEDDLE_CASSANDRA_PASSWORD: 'wrong' })
    expect(message).toContain('does not know the user little with this password')
    expect(message).not.toContain('wrong')
  })

  it('refuses a user that is not known', async () => {
    expect(await refusal(place, inStore('who')))
      .toContain('does not know the user who with this password')
  })

  it('names the keyspaces to a user that may not create them', async () => {
    const message = await refusal(place, inStore('little'))
    expect(message).toContain('may not make or use the keyspaces own and own_control')
    expect(message).toContain('grant ALL')
  })

  it('names the keyspaces to a user that may not create tables in them', async () => {
    await asAdmin(createKeyspace('own', place), createKeyspace('own_control', place))
    expect(await refusal(place, inStore('little'))).toContain('the keyspaces own and own_control')
  })

  it('serves a user that was granted what that sentence says, and no more', async () => {
    await grant('ALL', 'enough')
    const server = await startServer(
      { project: 'conformance', cassandra: place, env: as('enough') },
    )
    expect(server.output()).toContain('keyspace own')
    await server.close()
  })

  it('names the missing permission to a user that may only read', async () => {
    await grant('SELECT', 'reader')
    const message = await refusalOfProcess(place, as('reader'))
    expect(message).toContain('User reader has no MODIFY permission on <table own_control.')
  })
})
