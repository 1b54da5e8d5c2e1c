/** Access for operator commands: through the running server, or else to the store itself. */

import type { Env } from '../../cluster/index.ts'
import { keyDesk } from '../access/index.ts'
import { HeddleError } from '../errors.ts'
import type { Settings } from '../settings/index.ts'
import { openOperatorTables } from '../store/cassandra/index.ts'
import type { OperatorTables } from '../store/cassandra/index.ts'
import { openEmbeddedStore } from '../store/embedded/index.ts'
import { reachOffice } from './admin-socket.ts'
import type { OfficeDesks } from './admin-socket.ts'
import { connectionOptions } from './backends/cassandra-connection.ts'

export interface Office extends OfficeDesks {
  close(): Promise<void>
}

/** Throws HeddleError with a sentence if the store cannot be reached. */
export async function openOffice(settings: Settings, env: Env): Promise<Office> {
  const { cassandra, dataDirectory: directory } = settings
  const over = ({ keys, billing, region = settings.region, close }: OperatorTables): Office =>
    ({ desk: keyDesk({ table: keys, region, env }), billing, close })
  if (cassandra !== null) {
    return over(await openOperatorTables({ ...connectionOptions(cassandra), env,
      ...settings.inRegion && { region: settings.region } }))
  }
  const served = await reachOffice({ directory, env })
  if (served !== undefined) return { ...served, close: async () => {} }
  try {
    return over(await openEmbeddedStore({ directory, env }))
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_owner') throw error
    throw new HeddleError('not_owner', `The data directory ${directory} is in use by a server ` +
      'that does not answer: it is starting or ending. Try again in a moment.')
  }
}
