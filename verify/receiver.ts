/** The world outside of the server: it records the effects of graphs and the webhooks of runs. */

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

import type { Effect } from './history/history.ts'

export type Received =
  | { readonly type: 'effect'; readonly name: Effect['name']; readonly token: string;
    readonly key: string }
  | { readonly type: 'webhook'; readonly runId: string; readonly status: string }
  | { readonly type: 'tick'; readonly cron: string; readonly runId: string;
    readonly wallMs: number }

interface RunInWebhook {
  readonly run_id: string
  readonly created_at: string
}

export interface Receiver {
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts the receiver on a loopback port. `POST /charge` returns one receipt for each idempotency
 * key; `POST /mail` and `POST /draft` return another receipt each time, because they know no keys.
 * `POST /webhook` takes the webhook of a run, and `POST /tick?cron=<token>` that of a cron.
 */
export async function startReceiver(receive: (received: Received) => void): Promise<Receiver> {
  const receipts = new Map<string, string>()
  let count = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.url === '/webhook') {
      const { run_id: runId, status } = JSON.parse(body) as { run_id: string; status: string }
      receive({ type: 'webhook', runId, status })
      response.end()
      return
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://receiver')
    if (pathname === '/tick') {
      const { run_id: runId, created_at: created } = JSON.parse(body) as RunInWebhook
      receive({ type: 'tick', cron: searchParams.get('cron') ?? '', runId,
        wallMs: Date.parse(created) })
      response.end()
      return
    }
    const name = pathname.slice(1) as Effect['name']
    const key = String(request.headers['idempotency-key'] ?? '')
    receive({ type: 'effect', name, token: body, key })
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
