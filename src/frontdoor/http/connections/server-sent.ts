/** Parts of every stream of server-sent events: its headers, and its sign of life. */

import { openReplyHeaders } from './connection-ticker.ts'

/** Headers of a stream of events. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  ...openReplyHeaders,
} as const

/** Has one line break only: after an empty line, some clients would see an event. */
export const heartbeat = ': heartbeat\n'
