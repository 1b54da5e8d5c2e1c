/** Waits until a ring is complete: a node may accept connections before it knows the others. */

import { setTimeout as pause } from 'node:timers/promises'

import { Client, auth, types } from 'cassandra-driver'

/** The ring to wait for. */
export interface RingOptions {
  readonly contactPoints: readonly string[]
  readonly dataCenter: string
  readonly passwords: boolean
  /** Time to try before giving up. */
  readonly patienceMs: number
}

/** Resolves when clients see every node up and each node answers a read that needs the others. */
export async function untilWhole(options: RingOptions): Promise<void> {
  const end = performance.now() + options.patienceMs
  for (;;) {
    const problem = await problemOf(options)
    if (problem === undefined) return
    if (performance.now() > end) throw new Error(`The ring does not become complete: ${problem}`)
    await pause(100)
  }
}

async function problemOf(options: RingOptions): Promise<string | undefined> {
  const { contactPoints, dataCenter, passwords } = options
  const client = new Client({
    contactPoints: [...contactPoints],
    localDataCenter: dataCenter,
    socketOptions: { readTimeout: 2_000, connectTimeout: 1_000 },
    ...passwords ? { authProvider: new auth.PlainTextAuthProvider('cassandra', 'cassandra') } : {},
  })
  try {
    await client.connect()
    const hosts = client.hosts.values()
    const up = hosts.filter((host) => host.isUp()).length
    if (hosts.length < contactPoints.length || up < hosts.length) {
      return `${up} of ${contactPoints.length} nodes are seen.`
    }
    const { cql, consistency } = question(hosts.length)
    await Promise.all(hosts.map((host) => client.execute(cql, [], { host, consistency })))
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await client.shutdown()
  }
}

/** A read of a table with three replicas: with three nodes, it needs all of them. */
function question(nodes: number): { readonly cql: string; readonly consistency: number } {
  if (nodes === 1) {
    return { cql: 'SELECT * FROM system_auth.roles', consistency: types.consistencies.localQuorum }
  }
  const { all, localQuorum } = types.consistencies
  return {
    cql: "SELECT * FROM system_distributed.view_build_status WHERE keyspace_name = 'a'" +
      " AND view_name = 'b'",
    consistency: nodes === 3 ? all : localQuorum,
  }
}
