/** A data directory as a running server has it: its store is open, and its socket answers. */

import { systemEnv } from '../../../cluster/index.ts'
import { keyAdmin } from '../../../src/access/index.ts'
import { catalogClient, catalogKind, secretsOver } from '../../../src/platform/index.ts'
import { openAdminSocket } from '../../../src/server/admin-socket.ts'
import { operatorActors, placeOfStore } from '../../../src/server/operator/operator-actors.ts'
import { secretsAdmin } from '../../../src/server/secrets-admin.ts'
import { secretsKeysOf } from '../../../src/server/secrets-keys.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import type { EmbeddedStore } from '../../../src/store/embedded/index.ts'

/** The directory in use. Whoever served it ends it. */
export interface ServedDirectory {
  readonly store: EmbeddedStore
  setSecret(name: string, value: string): Promise<void>
  close(): Promise<void>
}

/** Serves a data directory. Its secrets are sealed with the keys in a file, or with its own. */
export async function serveDirectory(directory: string,
  secretsKey: string | null = null): Promise<ServedDirectory> {
  const env = systemEnv({ level: 'silent' })
  const store = await openEmbeddedStore({ directory, env })
  const { activations, router } = operatorActors(await placeOfStore(store, env), env,
    () => [catalogKind({ log: store.log, env })])
  const keys = secretsKeysOf({ secretsKey, cassandra: null, dataDirectory: directory }, env)
  const catalogs = catalogClient(router)
  const socket = await openAdminSocket({ directory, env, billing: store.billing,
    keyAdmin: keyAdmin({ table: store.keys, region: 'us', env }),
    secrets: secretsAdmin({ secrets: { env, keys, catalogs }, keys: store.keys }),
    revisions: { survey: () => Promise.resolve(null) } })
  return {
    store,
    setSecret: (name, value) => secretsOver(catalogs, keys, env).set('local', name, value),
    close: async () => {
      await socket?.close()
      await activations.close(AbortSignal.abort())
      await store.close()
    },
  }
}
