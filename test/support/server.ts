/** A server for a test file, and the official client for it. */

import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, inject } from 'vitest'
import { dropKeyspace, newKeyspace } from './cassandra-keyspace.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { cassandraForTests } from './cassandra.ts'
import type { KeyPlace } from './keys.ts'
import { projectsFolder } from './newest-packages.ts'
import { oneWorker, startServer } from './server-process.ts'
import type { ServerOptions, ServerProcess } from './server-process.ts'
import type { SharedKind, SharedServerAnswer, SharedServerRequest } from './shared-server-setup.ts'

/** The server of a test file, once its tests run. */
export interface ServerInUse {
  readonly url: string
  /** The official client, without retries. */
  readonly client: Client
  readonly process: ServerProcess
  /** Where it keeps its data. */
  readonly place: KeyPlace
}

/** With HEDDLE_TEST_STORE=cassandra, servers without a given store use Cassandra. */
const onCassandra = process.env['HEDDLE_TEST_STORE'] === 'cassandra'

/** Time for a start. The first file waits until three nodes are up and the tables are created. */
const startMs = 240_000

/**
 * A server for a test file: with options one of its own, otherwise one that files share, since a
 * start takes longer than many of them. Own ones have one worker, unless they ask for more. With
 * HEDDLE_TEST_URL the tests that need no process of their own run against the server there, which
 * must serve the conformance project.
 */
export function useServer(options: ServerOptions | SharedKind = 'open'): ServerInUse {
  const elsewhere = process.env['HEDDLE_TEST_URL']
  let own: ServerProcess | undefined
  let keyspace: CassandraKeyspace | undefined
  let url: string | undefined
  let keyPlace: KeyPlace | undefined
  let client: Client | undefined
  beforeAll(async () => {
    const cassandra = onCassandra ? await cassandraForTests() : undefined
    keyspace = cassandra && newKeyspace(cassandra)
    if (elsewhere !== undefined) url = elsewhere
    else if (typeof options === 'string') {
      ;({ url, keyPlace } = await sharedServer(options, keyspace))
    } else {
      // Each worker loads the engine. Of two such options the last one holds.
      const args = [...oneWorker, ...options.args ?? []]
      own = await startServer({ project: 'conformance', cassandra: keyspace, ...options, args })
    }
    client = clientOf(url ?? own!.url)
  }, startMs)
  afterAll(async () => {
    await own?.close()
    if (own !== undefined && keyspace !== undefined) await dropKeyspace(keyspace)
  })
  return {
    get url() {
      return url ?? own!.url
    },
    get client() {
      return client!
    },
    get process() {
      return own!
    },
    get place() {
      return keyPlace ?? { dataDir: own!.dataDir, ...keyspace && { cassandra: keyspace } }
    },
  }
}

/**
 * A shared server. The first caller with a place decides where its data are; without a place, they
 * are in a folder.
 */
async function sharedServer(kind: SharedKind, place?: CassandraKeyspace) {
  const asked: SharedServerRequest = { kind, projects: projectsFolder(), place }
  const response = await fetch(inject('sharedServerDoor'), { method: 'POST',
    body: JSON.stringify(asked) })
  const answer = await response.json() as SharedServerAnswer
  if ('broken' in answer) throw new Error(`The server that tests share: ${answer.broken}`)
  return answer
}

/** The official client without retries, so that a test gets the first answer. */
export function clientOf(url: string, headers: Record<string, string> = {}): Client {
  return new Client({
    apiUrl: url,
    apiKey: null,
    defaultHeaders: headers,
    callerOptions: { maxRetries: 0, maxConcurrency: 1_000 },
  })
}
