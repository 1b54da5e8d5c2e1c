/** Members of two builds in one cluster: both are listed, and an upgrade waits for the older. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, afterEach, describe, expect, it } from 'vitest'

import { ownRelease } from '../../src/settings/index.ts'
import { supportedTables } from '../../src/store/cassandra/schema/migration.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { heddleProcess } from '../support/command.ts'
import { earlierProgram } from '../support/earlier-program.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

/** The last program whose members report neither a commit nor tables. */
const before = earlierProgram('2988e945')
if (before === undefined) console.log('The program of before is skipped: no history is here.')
const cassandra = await cassandraForTests()
const canRun = before !== undefined && cassandra !== undefined
const root = mkdtempSync(join(tmpdir(), 'heddle-builds-'))
afterAll(() => {
  before?.remove()
  rmSync(root, { recursive: true })
})

const servers: ServerProcess[] = []
const keyspaces: CassandraKeyspace[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const keyspace of keyspaces.splice(0)) await dropKeyspace(keyspace)
})

/** Starts members of one cluster, each of the program in a folder, by default the bundle. */
function newCluster() {
  const keyspace = newKeyspace(cassandra!)
  keyspaces.push(keyspace)
  const place = ['--store', 'cassandra', '--contact-points', keyspace.contactPoints.join(','),
    '--local-datacenter', keyspace.dataCenter, '--keyspace', keyspace.keyspace]
  const start = async (name: string, program?: string) => {
    const server = await startServer({ project: 'bench', cassandra: keyspace, args: oneWorker,
      dataDir: join(root, keyspace.keyspace, name), program })
    servers.push(server)
    return server
  }
  const finish = () => heddleProcess('upgrade', 'finish', ...place)
  /** Version and tables of each member that is up. */
  const builds = async () => {
    const { stdout } = await heddleProcess('members', ...place, '--json')
    const members = JSON.parse(stdout) as {
      id: string
      details: { version: string; tables?: number } | null
    }[]
    return Object.fromEntries(members.map(({ id, details }) => [id, details && {
      version: details.version,
      tables: details.tables,
    }]))
  }
  return { start, finish, builds }
}

/** A member on a busy machine may respond after the three seconds that a command waits for it. */
const patient = { timeout: 120_000 }

const release = ownRelease()
/** The bundle names the commit that it was made of. */
const bundled = { version: expect.stringMatching(/^\d+\.\d+\.\d+\+[\da-f]{8}(\.dirty)?$/),
  tables: supportedTables }

describe.skipIf(!canRun)('a cluster with members of two builds', () => {
  it('refuses to finish an upgrade until the member of the earlier build has ended', async () => {
    const cluster = newCluster()
    const earlier = await cluster.start('earlier', before!.home)
    const now = await cluster.start('now')
    const { session, host, port } = earlier.member
    await expect.poll(cluster.builds, patient).toEqual({
      [session]: { version: release, tables: undefined },
      [now.member.session]: bundled,
    })
    await expect.poll(cluster.finish, patient).toEqual({ status: 3, stdout: '',
      stderr: expect.stringContaining(`The member ${session} at ${host}:${port} (${release}) ` +
        'does not report which tables it supports.') })

    await earlier.kill('SIGTERM')
    await expect.poll(cluster.builds, patient).toEqual({ [now.member.session]: bundled })
    await expect.poll(cluster.finish, patient).toMatchObject({ status: 0, stderr: '' })
  })

  it('finishes an upgrade with members of two builds that support the same tables', async () => {
    const cluster = newCluster()
    const [now, source] = [await cluster.start('now'),
      await cluster.start('source', resolve(import.meta.dirname, '../..'))]
    await expect.poll(cluster.builds, patient).toEqual({
      [now.member.session]: bundled,
      [source.member.session]: { version: `${release}+source`, tables: supportedTables },
    })
    await expect.poll(cluster.finish, patient).toMatchObject({ status: 0, stderr: '' })
  })
})
