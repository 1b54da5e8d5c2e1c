/** A server for a test file, and the official client for it. */

import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll } from 'vitest'
import { cassandraForTests } from './cassandra.ts'
import { dropKeyspace, newKeyspace } from './cassandra-keyspace.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'
import { startServer } from './server-process.ts'
import type { ServerOptions, ServerProcess } from './server-process.ts'

export interface ServerInUse {
  readonly url: string
  /** The official client, without retries. */
  readonly client: Client
  readonly process: ServerProcess
}

/** Where HEDDLE_TEST_STORE says so, what is served without a store of its own is in Cassandra. */
const onCassandra = process.env['HEDDLE_TEST_STORE'] === 'cassandra'

/**
 * One server for a test file. With HEDDLE_TEST_URL the tests that need no process of their own
 * run against the server there instead, which must serve the conformance project.
 */
export function useServer(options: ServerOptions = { project: 'conformance' }): ServerInUse {
  const elsewhere = process.env['HEDDLE_TEST_URL']
  let own: ServerProcess | undefined
  let keyspace: CassandraKeyspace | undefined
  let client: Client | undefined
  beforeAll(async () => {
    const cassandra = onCassandra ? await cassandraForTests() : undefined
    keyspace = cassandra && newKeyspace(cassandra)
    if (elsewhere === undefined) own = await startServer({ cassandra: keyspace, ...options })
    client = clientOf(elsewhere ?? own!.url)
  }, 120_000)
  afterAll(async () => {
    await own?.close()
    if (keyspace !== undefined) await dropKeyspace(keyspace)
  }, 120_000)
  return {
    get url() { return elsewhere ?? own!.url },
    get client() { return client! },
    get process() { return own! },
  }
}

/** The official client as it comes, without retries: a test wants the first answer. */
export function clientOf(url: string, headers: Record<string, string> = {}): Client {
  return new Client({
    apiUrl: url, apiKey: null, defaultHeaders: headers,
    callerOptions: { maxRetries: 0, maxConcurrency: 1_000 },
  })
}
