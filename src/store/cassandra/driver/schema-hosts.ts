/** The hosts of Cassandra that a change of the schema goes to, and whether all know of it. */

import type { Client, Host } from 'cassandra-driver'

/** All hosts of a data center, whether up or down. */
export function hostsOf(client: Client, dataCenter: string): readonly Host[] {
  return client.hosts.values().filter(({ datacenter }) => datacenter === dataCenter)
}

/** The host that gets all changes of the schema: the first one that is up. */
export function schemaHost(client: Client, dataCenter: string): Host | undefined {
  const hosts = hostsOf(client, dataCenter)
  return hosts.find((host) => host.isUp()) ?? hosts[0]
}

/** True if hosts agree, as seen by the host that changes the schema. Others may lag behind it. */
export async function hostsAgree(client: Client, dataCenter: string): Promise<boolean> {
  const host = schemaHost(client, dataCenter)
  try {
    const answers = await Promise.all(
      ['local', 'peers_v2'].map((table) =>
        client.execute(`SELECT schema_version FROM system.${table}`, [], { host })
      ),
    )
    // A host that has just joined or left has no version.
    const versions = answers.flatMap(({ rows }) =>
      rows.flatMap((row) => row['schema_version'] ? [String(row['schema_version'])] : [])
    )
    return new Set(versions).size === 1
  } catch {
    // The host is busy or has gone. What was executed has taken effect nevertheless.
    return false
  }
}
