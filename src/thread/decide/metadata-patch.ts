/** Changes a thread's metadata. Pure. */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { metadataKeysMax, objectIn } from '../../json/index.ts'
import { requireShort } from '../../search/index.ts'

/** Merges shallowly. Throws `invalid` if that makes too many keys, or too long a text. */
export function patchedMetadata(metadataJson: JsonText,
  change: Readonly<Record<string, unknown>>): JsonText {
  const before = objectIn(metadataJson)
  const metadata = { ...before, ...change }
  // Runs add their graph and assistant, so that it may have more already.
  const most = Math.max(metadataKeysMax, Object.keys(before).length)
  if (Object.keys(metadata).length > most) {
    throw new HeddleError('invalid', `metadata: a thread keeps ${metadataKeysMax} keys at most.`)
  }
  const patched = JSON.stringify(metadata)
  requireShort(patched, metadataJson)
  return patched
}
