/** The connection options for Cassandra, from the settings. */

import type { CassandraSettings } from '../../settings/index.ts'

/** The options as the store takes them. An empty user means no login. */
export function connectionOptions(settings: CassandraSettings) {
  const { contactPoints, localDataCenter, keyspace, user, password, passwordFile, tls } = settings
  return { contactPoints, localDataCenter, keyspace,
    ...user !== '' && { user, password, passwordFile }, ...tls && { tls } }
}
