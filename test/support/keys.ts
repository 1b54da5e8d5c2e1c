/** API keys for a server under test, created as its operator would create them. */

import { systemEnv } from '../../cluster/index.ts'
import type { CallerRole } from '../../src/access/index.ts'
import { openAdminAccess } from '../../src/server/admin-access.ts'
import type { AdminAccess } from '../../src/server/admin-access.ts'
import { resolveSettings } from '../../src/settings/config.ts'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'

/** Makes keys in the store of a server. */
export interface KeyMaker extends AdminAccess {
  /** The text of a new key. */
  make(tenant: string, role?: CallerRole): Promise<string>
  makeRevoked(tenant: string): Promise<string>
  makeExpired(tenant: string): Promise<string>
}

/** Where the server keeps its data. */
export interface KeyPlace {
  readonly dataDir: string
  readonly cassandra?: CassandraKeyspace
}

/** Opens the store of a server, or reaches the server that has it. */
export async function openKeyMaker({ dataDir, cassandra }: KeyPlace): Promise<KeyMaker> {
  const settings = resolveSettings({
    options: cassandra === undefined ? { data: dataDir } : {
      store: 'cassandra',
      contactPoints: cassandra.contactPoints.join(','),
      localDatacenter: cassandra.dataCenter,
      keyspace: cassandra.keyspace,
    },
    environment: {},
    folder: dataDir,
    starter: 'langgraph.json',
  })
  const admin = await openAdminAccess(settings, systemEnv({ level: 'silent' }))
  const request = (tenant: string, role: CallerRole = 'developer',
    expiresInMs: number | null = null) => ({ tenant, role, name: 'of a test', expiresInMs })
  return {
    ...admin,
    make: async (tenant, role) => (await admin.keyAdmin.create(request(tenant, role))).key,
    makeRevoked: async (tenant) => {
      const { key, id } = await admin.keyAdmin.create(request(tenant))
      await admin.keyAdmin.revoke(id)
      return key
    },
    makeExpired: async (tenant) => (await admin.keyAdmin.create(request(tenant, 'admin', -1))).key,
  }
}
