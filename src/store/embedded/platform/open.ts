/** Opens the spans of an embedded server in a thread of the platform. */

import { systemEnv } from '../../../../cluster/index.ts'
import type { SpanStore } from '../../../platform/index.ts'
import { traceStore } from './span-store.ts'

/** Directory and bounds with which the spans of a server are opened. */
export interface EmbeddedSpansOptions {
  /** The data directory. */
  readonly directory: string
  /** Bytes that `traces.db` may use. Above that, the tenant with most loses its oldest spans. */
  readonly diskBytes: number
  /** Bytes that a tenant may have in it; by default any number. */
  readonly tenantBytes?: number
  /** False: there is no index of words. */
  readonly indexesWords?: boolean
}

/** Opens the spans, as `SpanStoreModule` says. The file is opened at the first call. */
export async function openSpanStore(options: unknown,
  access: 'write' | 'read'): Promise<SpanStore> {
  return traceStore({ ...options as EmbeddedSpansOptions, access,
    env: systemEnv({ name: 'traces' }) })
}
