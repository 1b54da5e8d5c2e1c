/** Hands the traced steps of runs to the platform. */

import type { WriteTraces } from '../graph/index.ts'
import type { Platform } from '../platform/index.ts'

/** Writes the traces of a tenant's graphs, as if they had come from outside. */
export function tracedSteps(platform: Pick<Platform, 'ingest'>): WriteTraces {
  return async ({ body, ...call }) => {
    // A body from another process may be part of a larger buffer.
    const isWhole = body.byteLength === body.buffer.byteLength
    await platform.ingest.ingest({ ...call, body, encoding: '' },
      isWhole ? { transfer: [body.buffer] } : {})
  }
}
