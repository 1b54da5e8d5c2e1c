/** The end of a preview: after a time without a request. Pure. */

import type { Deployment, Preview } from '../deployment.ts'

/** The use of a preview is noted this often at most: every hour, or more often for a short life. */
export function noteMs({ ttlMs }: Preview): number {
  return Math.min(3_600_000, Math.ceil(ttlMs / 10))
}

/**
 * Time at which an unused preview is removed; undefined for other deployments. A change counts as a
 * request. It is never too early: a request just after a note is not noted.
 */
export function previewEndMs({ preview, createdAtMs, modifiedAtMs }: Deployment,
  lastUsedMs: number): number | undefined {
  if (preview === null) return undefined
  return Math.max(createdAtMs, modifiedAtMs, lastUsedMs) + preview.ttlMs + noteMs(preview)
}
