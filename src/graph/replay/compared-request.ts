/** The identity of a request once its secrets are hidden, as recordings hide them. */

import type { Call } from '../calls/call.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import { recordedUrl } from '../recording/recorded-url.ts'
import { redactedRequest } from '../recording/redacted-body.ts'
import { callIdentity } from './call-identity.ts'
import type { CallIdentity } from './call-identity.ts'

/** A request of a replay or of a recording. */
export interface RequestToCompare extends Pick<Call, 'method' | 'url' | 'headers'> {
  readonly chunks: readonly Uint8Array[]
}

/** Returns the identity of a request without secrets. A body that is not readable is empty. */
export async function redactedIdentity({ method, url, headers, chunks }: RequestToCompare,
  hide: HideSecrets): Promise<CallIdentity> {
  const body = await redactedRequest(chunks, headers, hide)
  return callIdentity(method, recordedUrl(url, hide), Buffer.concat(body ?? []))
}
