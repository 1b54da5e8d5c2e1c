/** Access for operator commands: through the running server, or otherwise to the store itself. */

import type { Env } from '../../cluster/index.ts'
import { keyAdmin } from '../access/index.ts'
import type { KeyTable } from '../access/index.ts'
import { HeddleError } from '../errors.ts'
import { catalogClient, catalogKind } from '../platform/index.ts'
import type { CassandraSettings, Settings } from '../settings/index.ts'
import { openOperatorTables } from '../store/cassandra/index.ts'
import { openEmbeddedStore } from '../store/embedded/index.ts'
import type { EmbeddedStore } from '../store/embedded/index.ts'
import { reachAdminSocket } from './admin-socket.ts'
import type { AdminPorts } from './admin-socket.ts'
import { connectionOptions } from './backends/cassandra-connection.ts'
import type { RevisionsAdmin } from './deployments/revisions-admin.ts'
import { openClusterOperator } from './operator/cluster-operator.ts'
import { operatorActors, placeOfStore } from './operator/operator-actors.ts'
import { secretsAdmin } from './secrets-admin.ts'
import type { SecretsAdmin } from './secrets-admin.ts'
import { secretsKeysOf } from './secrets-keys.ts'

/** Access that its owner must close. */
export interface AdminAccess extends AdminPorts {
  close(): Promise<void>
}

/** Opens access. Throws HeddleError with a message if the store cannot be reached. */
export async function openAdminAccess(settings: Settings, env: Env): Promise<AdminAccess> {
  const { cassandra, dataDirectory: directory } = settings
  const admin = (keys: KeyTable, region: string = settings.region) =>
    keyAdmin({ table: keys, region, env })
  if (cassandra !== null) {
    const { keys, billing, region, close } = await openOperatorTables({
      ...connectionOptions(cassandra),
      env,
      ...settings.inRegion && { region: settings.region },
    })
    return { keyAdmin: admin(keys, region), billing, close,
      secrets: secretsOfCluster(cassandra, env), revisions: revisionsOfCluster(cassandra, env) }
  }
  const served = await reachAdminSocket({ directory, env })
  if (served !== undefined) return { ...served, close: async () => {} }
  const store = await openUnserved(directory, env)
  const { keys, billing, close } = store
  return { keyAdmin: admin(keys), billing, close, secrets: secretsOfStore(store, settings, env),
    revisions: unservedRevisions }
}

async function openUnserved(directory: string, env: Env): Promise<EmbeddedStore> {
  try {
    return await openEmbeddedStore({ directory, env })
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_owner') throw error
    throw new HeddleError('not_owner', `The data directory ${directory} is in use by a server ` +
      'that does not answer: it is starting or ending. Try again in a moment.')
  }
}

/** Surveys secrets through any member of the cluster. */
function secretsOfCluster(settings: CassandraSettings, env: Env): SecretsAdmin {
  return {
    survey: async (options) => {
      const operator = await openClusterOperator(settings, env)
      try {
        return await operator.survey(options)
      } finally {
        await operator.close()
      }
    },
  }
}

function revisionsOfCluster(settings: CassandraSettings, env: Env): RevisionsAdmin {
  return {
    survey: async (options) => {
      const operator = await openClusterOperator(settings, env)
      try {
        return await operator.surveyRevision(options)
      } finally {
        await operator.close()
      }
    },
  }
}

/** Their chunks are read by the threads of a server. */
const unservedRevisions: RevisionsAdmin = {
  survey: () =>
    Promise.reject(new HeddleError('unsupported', 'Only a server that runs reads revisions.')),
}

function secretsOfStore(store: EmbeddedStore, settings: Settings, env: Env): SecretsAdmin {
  return {
    survey: async (options) => {
      const { activations, router } = operatorActors(await placeOfStore(store, env), env,
        () => [catalogKind({ log: store.log, env })])
      try {
        const keys = secretsKeysOf(settings, env)
        const secrets = { env, keys, catalogs: catalogClient(router) }
        return await secretsAdmin({ secrets, keys: store.keys }).survey(options)
      } finally {
        await activations.close(AbortSignal.abort())
      }
    },
  }
}
