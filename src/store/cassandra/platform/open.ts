/** Opens the spans in Cassandra, in the thread of the platform that imports this module. */

import { systemEnv } from '../../../../cluster/index.ts'
import type { SpanStore } from '../../../platform/index.ts'
import type { ConnectionOptions } from '../driver/client-options.ts'
import { Connection } from '../driver/connection.ts'
import { CassandraSpans } from './cassandra-spans.ts'

/** Options with which a thread connects: all but the environment, which cannot be sent to it. */
export type PlainOptions = Omit<ConnectionOptions, 'env'>

/** Connects with the options that `cassandraSpans` gave. The tables exist. */
export async function openSpanStore(options: unknown,
  access: 'write' | 'read'): Promise<SpanStore> {
  const env = systemEnv({ name: access === 'write' ? 'ingest' : 'query' })
  return new CassandraSpans(await Connection.open({ ...options as PlainOptions, env }), env, access)
}
