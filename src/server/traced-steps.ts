/** Hands the traced steps and the recorded calls of runs to the platform. */

import type { WriteTraces } from '../graph/index.ts'
import type { Platform } from '../platform/index.ts'

const daySeconds = 86_400

/**
 * Writes the traces of a tenant's graphs, as if they had come from outside, and the recorded calls
 * of their runs.
 */
export function tracedSteps(platform: Pick<Platform, 'ingest'>): WriteTraces {
  return async (call, deployment) => {
    const { body } = call
    // A body from another process may be part of a larger buffer.
    const isWhole = body.byteLength === body.buffer.byteLength
    const moving = isWhole ? { transfer: [body.buffer] } : {}
    if (call.form !== 'recording') {
      await platform.ingest.ingest({ ...call, body, encoding: '' }, moving)
      return
    }
    const { tenant, runId, startedAtMs, no, days, label } = call
    await platform.ingest.putRecording({ tenant, deployment, runId, startedAtMs, no, body,
      timeToLiveS: days * daySeconds, ...label !== undefined && { label } }, moving)
  }
}
