/** Responses that end early, by us or by the client. */

import { constants } from 'node:http2'
import type { Http2ServerResponse } from 'node:http2'
import type { ServerResponse } from 'node:http'

export type AnyResponse = ServerResponse | Http2ServerResponse

/** Cuts the response, so that the client notices: a clean end would mean that it is complete. */
export function breakOff(response: AnyResponse): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_CANCEL)
  else response.destroy()
}

/** Calls `closed` once when the response is over, for whatever reason, or if it is already. */
export function whenClosed(response: AnyResponse, closed: () => void): void {
  const { destroyed } = 'stream' in response ? response.stream : response
  if (destroyed) queueMicrotask(closed)
  else response.once('close', closed)
}
