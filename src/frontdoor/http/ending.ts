/** Early ends of responses: broken off by us, or left by the client. */

import { constants } from 'node:http2'
import type { Http2ServerResponse } from 'node:http2'
import type { ServerResponse } from 'node:http'

/** A response of either version of HTTP. */
export type AnyResponse = ServerResponse | Http2ServerResponse

/** Ends a response so that the client sees a failure. A clean end would mean a whole answer. */
export function breakOff(response: AnyResponse): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_CANCEL)
  // An HTTP/1.0 answer ends with its connection. Only a reset shows that it is not whole.
  else if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy()
  else response.destroy()
}

/**
 * Calls `closed` once when the response has ended, however it ended. If it has ended already, calls
 * it as well.
 */
export function whenClosed(response: AnyResponse, closed: () => void): void {
  const { destroyed } = 'stream' in response ? response.stream : response
  if (destroyed) queueMicrotask(closed)
  else response.once('close', closed)
}
