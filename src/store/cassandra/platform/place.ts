/** Place of the spans of a server on Cassandra. */

import type { SpanStorePlace } from '../../../platform/index.ts'
import type { PlainOptions } from './open.ts'

/** The place of the spans in the keyspace of a store that is open already. */
export function cassandraSpans(
  { contactPoints, localDataCenter, keyspace, user, password, tls }: PlainOptions,
): SpanStorePlace {
  return { module: new URL('./open.ts', import.meta.url).href,
    options: { contactPoints, localDataCenter, keyspace, ...user !== undefined && { user },
      ...password !== undefined && { password },
      ...tls !== undefined && { tls } } satisfies PlainOptions }
}
