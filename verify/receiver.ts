/** The world outside of the graph: an HTTP server that records each effect it receives. */

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

export interface ReceivedEffect {
  readonly name: 'charge' | 'mail'
  readonly token: string
  readonly key: string
}

export interface Receiver {
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts the receiver on a loopback port. `POST /charge` returns one receipt for each idempotency
 * key; `POST /mail` returns another receipt each time, because a mail server knows no keys.
 */
export async function startReceiver(
  receive: (effect: ReceivedEffect) => void,
): Promise<Receiver> {
  const receipts = new Map<string, string>()
  let count = 0
  const server = createServer(async (request, response) => {
    const name = request.url === '/mail' ? 'mail' : 'charge'
    const key = String(request.headers['idempotency-key'] ?? '')
    const token = await text(request)
    receive({ name, token, key })
    const kept = name === 'charge' ? receipts.get(key) : undefined
    const receipt = kept ?? String(++count)
    receipts.set(key, receipt)
    response.end(receipt)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
