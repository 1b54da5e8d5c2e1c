/** Ending a response so that its client knows that it was not the end. */

import { constants } from 'node:http2'
import type { Http2ServerResponse } from 'node:http2'
import type { ServerResponse } from 'node:http'

/** A clean end would say that everything was told. */
export function breakOff(response: ServerResponse | Http2ServerResponse): void {
  const stream = 'stream' in response ? response.stream : undefined
  if (stream === undefined) (response as ServerResponse).destroy()
  else stream.close(constants.NGHTTP2_CANCEL)
}
