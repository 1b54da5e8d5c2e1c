/** The events of a thread as JSON of protocol v2. Their data is joined without parsing it. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { ThreadEvent } from '../../thread/index.ts'

/** An event as a client gets it. It has no line break. */
export function eventText(
  { id, seq, method, namespace, timestampMs, node, data }: ThreadEvent,
): JsonText {
  const params = `"namespace":${JSON.stringify(namespace)},"timestamp":${timestampMs}` +
    `${node === undefined ? '' : `,"node":${JSON.stringify(node)}`},"data":${data}`
  return `{"type":"event","event_id":${JSON.stringify(id)},"seq":${seq},` +
    `"method":"${method}","params":{${params}}}`
}

/** An event as a server-sent event. */
export function eventFrame(event: ThreadEvent): string {
  return `event: ${event.method}\ndata: ${eventText(event)}\nid: ${event.id}\n\n`
}
