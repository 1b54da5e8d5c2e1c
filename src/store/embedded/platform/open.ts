/** Opens the spans of an embedded server in a thread of the platform. */

import { systemEnv } from '../../../../cluster/index.ts'
import type { SpanStore } from '../../../platform/index.ts'
import { traceStore } from './span-store.ts'

/** What the spans of a server are opened with. */
export interface EmbeddedSpansOptions {
  /** The data directory. */
  readonly directory: string
  /** Bytes that `traces.db` may use. Above that the oldest spans of all projects are removed. */
  readonly diskBytes: number
}

/** What `SpanStoreModule` says. The file is opened at the first call. */
export async function openSpanStore(options: unknown,
  access: 'write' | 'read'): Promise<SpanStore> {
  const { directory, diskBytes } = options as EmbeddedSpansOptions
  return traceStore({ directory, diskBytes, access, env: systemEnv({ name: 'traces' }) })
}
