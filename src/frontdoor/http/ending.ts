/** How responses end early: broken off by us, or left by the client. */

import { constants } from 'node:http2'
import type { Http2ServerResponse } from 'node:http2'
import type { ServerResponse } from 'node:http'

export type AnyResponse = ServerResponse | Http2ServerResponse

/** Ends it so that the client sees a failure: a clean end would mean that it has everything. */
export function breakOff(response: AnyResponse): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_CANCEL)
  // An answer of HTTP/1.0 ends with its connection: only a reset says that it is not whole.
  else if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy()
  else response.destroy()
}

/**
 * Calls `closed` once when the response has ended, however it ended; also if it is over already.
 */
export function whenClosed(response: AnyResponse, closed: () => void): void {
  const { destroyed } = 'stream' in response ? response.stream : response
  if (destroyed) queueMicrotask(closed)
  else response.once('close', closed)
}
