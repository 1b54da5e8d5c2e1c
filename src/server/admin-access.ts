/** Access for operator commands: through the running server, or otherwise to the store itself. */

import type { Env } from '../../cluster/index.ts'
import { keyAdmin } from '../access/index.ts'
import { HeddleError } from '../errors.ts'
import type { Settings } from '../settings/index.ts'
import { openOperatorTables } from '../store/cassandra/index.ts'
import type { OperatorTables } from '../store/cassandra/index.ts'
import { openEmbeddedStore } from '../store/embedded/index.ts'
import { reachAdminSocket } from './admin-socket.ts'
import type { AdminPorts } from './admin-socket.ts'
import { connectionOptions } from './backends/cassandra-connection.ts'

/** Access that its owner must close. */
export interface AdminAccess extends AdminPorts {
  close(): Promise<void>
}

/** Opens access. Throws HeddleError with a message if the store cannot be reached. */
export async function openAdminAccess(settings: Settings, env: Env): Promise<AdminAccess> {
  const { cassandra, dataDirectory: directory } = settings
  const ended = (
    { keys, billing, region = settings.region, close }: OperatorTables,
  ): AdminAccess => ({ keyAdmin: keyAdmin({ table: keys, region, env }), billing, close })
  if (cassandra !== null) {
    return ended(
      await openOperatorTables({ ...connectionOptions(cassandra), env,
        ...settings.inRegion && { region: settings.region } }),
    )
  }
  const served = await reachAdminSocket({ directory, env })
  if (served !== undefined) return { ...served, close: async () => {} }
  try {
    return ended(await openEmbeddedStore({ directory, env }))
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_owner') throw error
    throw new HeddleError('not_owner', `The data directory ${directory} is in use by a server ` +
      'that does not answer: it is starting or ending. Try again in a moment.')
  }
}
