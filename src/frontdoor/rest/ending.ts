/** How responses end before their time: on our side, and on the client's. */

import { constants } from 'node:http2'
import type { Http2ServerResponse } from 'node:http2'
import type { ServerResponse } from 'node:http'

export type AnyResponse = ServerResponse | Http2ServerResponse

/** Lets the client know that this was not the end: a clean one would say that all was told. */
export function breakOff(response: AnyResponse): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_CANCEL)
  else response.destroy()
}

/** Calls `closed` once when the response is over, however that came about; also if it is so. */
export function whenClosed(response: AnyResponse, closed: () => void): void {
  const { destroyed } = 'stream' in response ? response.stream : response
  if (destroyed) queueMicrotask(closed)
  else response.once('close', closed)
}
