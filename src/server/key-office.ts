/** The keys for a command: by the server that has them, or else straight in the store. */

import type { Env } from '../../cluster/index.ts'
import type { Settings } from '../config.ts'
import { HeddleError } from '../errors.ts'
import { keyDesk } from '../records/index.ts'
import type { KeyDesk, KeyTable } from '../records/index.ts'
import { openKeyTable } from '../store/cassandra/index.ts'
import { openEmbeddedStore } from '../store/embedded/index.ts'
import { connectionOptions } from './cassandra-connection.ts'
import { reachKeyDesk } from './key-socket.ts'

export interface KeyOffice {
  readonly desk: KeyDesk
  close(): Promise<void>
}

/** Throws HeddleError with a sentence where the keys cannot be reached. */
export async function openKeyOffice(settings: Settings, env: Env): Promise<KeyOffice> {
  const { cassandra, dataDirectory: directory } = settings
  const over = ({ keys, region = settings.region, close }:
  { readonly keys: KeyTable; readonly region?: string; close(): Promise<void> }) =>
    ({ desk: keyDesk({ table: keys, region, env }), close })
  if (cassandra !== null) {
    return over(await openKeyTable({ ...connectionOptions(cassandra), env,
      ...settings.inRegion && { region: settings.region } }))
  }
  const served = await reachKeyDesk(directory)
  if (served !== undefined) return { desk: served, close: async () => {} }
  try {
    return over(await openEmbeddedStore({ directory, env }))
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_owner') throw error
    throw new HeddleError('not_owner', `The data directory ${directory} is in use by a server ` +
      'that does not answer about keys: it is starting or ending. Try again in a moment.')
  }
}
