/** Uploads the chunks of a revision that the cluster lacks. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { ControlClient } from '../control/control-client.ts'
import { megabytes } from '../megabytes.ts'

/** Uploads at once: each is up to 4 MiB, on both sides. */
const uploadsMax = 4

/** Time for one chunk on a slow line. */
const chunkMs = 300_000

/** Chunks to upload, and the place for them. */
export interface Upload {
  readonly client: ControlClient
  readonly route:
    | 'PUT /control/v1/deployments/:deployment/revisions/:revision/chunks/:sha256'
    | 'PUT /control/v1/deployments/:deployment/revisions/:revision/source/:sha256'
  readonly deployment: string
  readonly revision: string
  /** Those that the cluster lacks, by SHA-256. */
  readonly missing: readonly string[]
  readonly chunks: ReadonlyMap<string, Uint8Array>
  /** Called with how far it is. */
  progress(text: string): void
}

/**
 * Resolves with the bytes that were sent. After a cut, the same command sends only what is still
 * missing. Throws CommandError; no upload is under way then.
 */
export async function uploadChunks(
  { client, route, deployment, revision, missing, chunks, progress }: Upload,
): Promise<number> {
  const limited = limitConcurrency(uploadsMax)
  const bytesOf = (sha256: string) => chunks.get(sha256)!.length
  const all = missing.reduce((sum, sha256) => sum + bytesOf(sha256), 0)
  let [done, sent] = [0, 0]
  let failure: { readonly error: unknown } | undefined
  const put = async (sha256: string) => {
    if (failure !== undefined) return
    try {
      await client.ask(route, { params: { deployment, revision, sha256 },
        bytes: chunks.get(sha256)!, isRepeatable: true, withinMs: chunkMs })
      sent += bytesOf(sha256)
      progress(`${++done} of ${missing.length} chunks, ${megabytes(sent)} of ${megabytes(all)} MB`)
    } catch (error) {
      failure ??= { error }
    }
  }
  await Promise.all(missing.map((sha256) => limited(() => put(sha256))))
  if (failure !== undefined) throw failure.error
  return all
}
