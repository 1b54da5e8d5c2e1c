/** Setup before all tests: offers a Cassandra, which starts when the first test asks for it. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { TestProject } from 'vitest/node'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../scripts/cassandra/library.ts'
import { dropKeyspace } from './cassandra-keyspace.ts'
import { givenCassandra } from './given-cassandra.ts'

/** The answer to a test that asks for Cassandra. */
export type CassandraAnswer =
  | { readonly contactPoints: readonly string[]; readonly dataCenter: string }
  /** What this machine lacks to run it. */
  | { readonly missing: string }
  /** Why it did not start. */
  | { readonly broken: string }

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for Cassandra. */
    readonly cassandraDoor: string
    /** Number of nodes that the tests of this project want. */
    readonly cassandraNodes: number
    /** Keyspace that files share whose tests have tenants and logs of their own. */
    readonly sharedKeyspace: string
  }
}

/** First address by number of nodes; each further node takes the next address. */
const firstAddresses: Readonly<Record<number, string>> = { 1: '127.0.0.31', 3: '127.0.0.32' }

/** Offers Cassandra on a local port. Vitest calls it once, and calls the result at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clusters = new Map<number, Promise<Cassandra>>()
  const answers = new Map<number, Promise<CassandraAnswer>>()
  const door = createServer(async (request, response) => {
    const nodes = Number(request.url!.slice(1))
    if (!answers.has(nodes)) answers.set(nodes, answerFor(nodes, clusters))
    response.end(JSON.stringify(await answers.get(nodes)))
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  const { port } = door.address() as AddressInfo
  project.provide('cassandraDoor', `http://127.0.0.1:${port}`)
  const keyspace = `shared_${process.pid}_${port}`
  project.provide('sharedKeyspace', keyspace)
  return async () => {
    door.closeAllConnections()
    door.close()
    if (givenCassandra !== undefined) await dropKeyspace({ ...givenCassandra, keyspace })
    await Promise.allSettled([...clusters.values()].map(async (cluster) => (await cluster).close()))
  }
}

async function answerFor(
  nodes: number,
  clusters: Map<number, Promise<Cassandra>>,
): Promise<CassandraAnswer> {
  const missing = await whatIsMissing()
  if (missing !== undefined) {
    console.log(`Tests that need Cassandra are skipped. ${missing}`)
    return { missing }
  }
  const starting = startCassandra({ nodes, firstAddress: firstAddresses[nodes], light: true,
    fleeting: true, log: (line) => console.log(`Cassandra for tests: ${line}`) })
  clusters.set(nodes, starting)
  return starting.then(({ contactPoints, dataCenter }) => ({ contactPoints, dataCenter }),
    (error: Error) => ({ broken: error.message }))
}
