/** Backups of what a server stores, for operators. */

import { HeddleError } from '../errors.ts'
import type { Settings } from '../settings/index.ts'
import { backUp } from '../store/embedded/index.ts'

/**
 * Backs up a data directory. Returns the size. Throws HeddleError with a message if there can be no
 * backup.
 */
export function backUpStore({ cassandra, dataDirectory: directory }: Settings,
  target: string): { readonly bytes: number } {
  if (cassandra === null) return backUp({ directory, target })
  const { keyspace } = cassandra
  throw new HeddleError('unsupported', 'The data are in Cassandra, which makes its own backups: ' +
    `run "nodetool snapshot ${keyspace} ${keyspace}_control" on each of its nodes.`)
}
