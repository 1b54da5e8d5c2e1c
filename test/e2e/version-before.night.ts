/** The program of the version before lives with data that a later one has migrated, and back. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { migrations } from '../../src/store/cassandra/schema/migration.ts'
import { prepareSchema } from '../../src/store/cassandra/schema/schema.ts'
import { Database } from '../../src/store/embedded/file/database.ts'
import { schema } from '../../src/store/embedded/requests/tables.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { earlierProgram } from '../support/earlier-program.ts'
import { say, texts } from '../support/run-events.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerOptions, ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

/** The last program that reads a single number and refuses a greater one. */
const before = earlierProgram('f975556ee3db3ac2b70fa2f06f47f0b17ba20252')
if (before === undefined) console.log('The program of before is skipped: no history is here.')
const cassandra = await cassandraForTests()
const root = mkdtempSync(join(tmpdir(), 'heddle-versions-'))
afterAll(() => {
  before?.remove()
  rmSync(root, { recursive: true })
})

const servers: ServerProcess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

/** The steps of both schemas that the program of before knows. */
const known = 6
/** A project that the program of before serves too. */
const project = 'bench'

async function started(options: ServerOptions): Promise<ServerProcess> {
  const server = await startServer({ project, ...options })
  servers.push(server)
  return server
}

/** Each program adds a turn to the same thread. */
async function addTurn(server: ServerProcess, thread: string, text: string): Promise<string[]> {
  const { threads, runs } = clientOf(server.url)
  await threads.create({ threadId: thread, ifExists: 'do_nothing' })
  await runs.wait(thread, 'echo', { input: say(text) })
  const { values } = await threads.getState(thread)
  return texts(values)
}

const thread = '7d1f3a52-3c0e-4f0b-8a55-0d3f5b8c9e10'
const turns = (...said: readonly string[]) => said.flatMap((each) => [each, `echo: ${each}`])

describe.skipIf(before === undefined)('the program of before', () => {
  it('serves a data directory that was migrated, and so does the later one after it', async () => {
    const dataDir = join(root, 'data')
    const migrate = () =>
      new Database(join(dataDir, 'heddle.db'), [...schema, {
        sql: 'CREATE TABLE later (a INTEGER PRIMARY KEY)',
        oldest: known,
      }]).close()
    const now = await started({ dataDir })
    expect(await addTurn(now, thread, 'one')).toEqual(turns('one'))
    await now.kill('SIGTERM')
    migrate()
    const earlier = await started({ dataDir, program: before!.home })
    expect(await addTurn(earlier, thread, 'two')).toEqual(turns('one', 'two'))
    await earlier.kill('SIGTERM')
    migrate()
    const again = await started({ dataDir })
    expect(await addTurn(again, thread, 'three')).toEqual(turns('one', 'two', 'three'))
  })

  it.skipIf(!cassandra)('starts beside members whose version has migrated the tables', async () => {
    const keyspace = newKeyspace(cassandra!)
    const env = systemEnv({ level: 'silent' })
    const member = (name: string, program?: string) =>
      started({ cassandra: keyspace, dataDir: join(root, name),
        ...program !== undefined && { program } })
    // A keyspace that this program makes refuses the one of before.
    const earlier = await member('earlier', before!.home)
    expect(await addTurn(earlier, thread, 'one')).toEqual(turns('one'))
    const now = await member('now')
    expect(await addTurn(now, thread, 'two')).toEqual(turns('one', 'two'))
    const connection = await Connection.open({ env, contactPoints: cassandra!.contactPoints,
      localDataCenter: cassandra!.dataCenter, keyspace: keyspace.keyspace })
    await prepareSchema({ connection, env, steps: [...migrations, { oldest: known, statements: (
      at,
    ) => [`CREATE TABLE IF NOT EXISTS ${at.keyspace}.later (a int PRIMARY KEY)`] }] })
    await connection.close()
    await earlier.kill('SIGTERM')
    expect(await addTurn(now, thread, 'three')).toEqual(turns('one', 'two', 'three'))
    await earlier.restart()
    await now.kill('SIGTERM')
    expect(await addTurn(earlier, thread, 'four')).toEqual(turns('one', 'two', 'three', 'four'))
    await now.restart()
    expect((await addTurn(now, thread, 'five')).length).toBe(10)
    // Whichever program made a run, both have it.
    for (const { url } of [now, earlier]) {
      expect(await clientOf(url).runs.list(thread)).toHaveLength(5)
    }
    for (const server of servers.splice(0)) await server.close()
    await dropKeyspace(keyspace)
  })
})
