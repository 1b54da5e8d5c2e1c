/** The identity of a request once its secrets are hidden, as recordings hide them. */

import type { Call } from '../calls/call.ts'
import type { HideSecrets } from '../recording/hidden-bytes.ts'
import type { Mask } from '../recording/project-mask.ts'
import { recordedUrl } from '../recording/recorded-url.ts'
import { redactedRequest } from '../recording/redacted-body.ts'
import { callIdentity } from './call-identity.ts'
import type { CallIdentity } from './call-identity.ts'

/** A request of a replay or of a recording. */
export interface RequestToCompare extends Pick<Call, 'method' | 'url' | 'headers'> {
  readonly chunks: readonly Uint8Array[]
}

/**
 * Returns the identity of a request without secrets, and redacted by the project. A body that is
 * not readable, or that the project does not redact, is empty.
 */
export async function redactedIdentity({ method, url: asked, headers, chunks }: RequestToCompare,
  hide: HideSecrets, mask?: Mask): Promise<CallIdentity> {
  const url = recordedUrl(asked, hide)
  const body = await redactedRequest(chunks, headers, hide) ?? []
  if (mask === undefined) return callIdentity(method, url, Buffer.concat(body))
  try {
    const shown = await mask.text(url, { kind: 'url', method, url })
    const masked = await mask.chunks(body, { kind: 'request', method, url: shown })
    return callIdentity(method, shown, Buffer.concat(masked))
  } catch {
    return callIdentity(method, new URL(asked).origin, new Uint8Array())
  }
}
