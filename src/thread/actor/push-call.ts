/** The call that notifies a client of a task: where it goes, and how the client knows it. Pure. */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import type { Call } from '../../egress/index.ts'

/** The call for a config. What is owed makes the same id at every try: receivers drop repeats. */
export function pushCall({ id, url, token, scheme, credentials, dialect }: PushConfig,
  owed: string): Required<Pick<Call, 'url' | 'headers'>> {
  const delivery = `${owed}/${encodeURIComponent(id)}`
  return { url, headers: {
    'content-type': dialect === '0.3' ? 'application/json' : 'application/a2a+json',
    'idempotency-key': delivery,
    'x-heddle-delivery': delivery,
    ...token !== '' && { 'x-a2a-notification-token': token },
    ...scheme !== '' && { authorization: `${scheme} ${credentials}` },
  } }
}
