/** Calls about the end of a run: the body of a webhook, and the call about a task. Pure. */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Call } from '../../egress/index.ts'
import { textAt, timeText, valueIn } from '../../json/index.ts'

/** Content of the webhook about the end of a run. */
export interface RunEnd {
  readonly run: RunRow
  /** Its record as the API shows it, an object. */
  readonly shown: JsonText
  /** Undefined if it never started. */
  readonly startedAtMs: number | undefined
  readonly sentAtMs: number
  /** The state when it ended; undefined if there is none, or none that outlives the run. */
  readonly values: JsonText | undefined
}

/** The JSON that a webhook gets. */
export function webhookBody({ run, shown, startedAtMs, sentAtMs, values }: RunEnd): JsonText {
  const message = textAt(valueIn(run.errorJson || '{}'), 'message')
  const more = [
    `"run_started_at":${startedAtMs === undefined ? 'null' : `"${timeText(startedAtMs)}"`}`,
    `"run_ended_at":"${timeText(run.updatedAtMs)}"`,
    `"webhook_sent_at":"${timeText(sentAtMs)}"`,
    ...values === undefined ? [] : [`"values":${values}`],
    ...message === undefined ? [] : [`"error":${JSON.stringify(message)}`],
  ]
  return `${shown.slice(0, -1)},${more.join(',')}}`
}

/** The call for a config. Each try has the same id, by which receivers drop repetitions. */
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
