/** A separate port for metrics, so that monitors need no access to the front door. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Metrics } from './metrics.ts'

/** An open port for metrics. */
export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/** Opens the port. Throws if it cannot listen. */
export async function openMetricsServer(metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number }): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end()
      return
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(503, { 'retry-after': '1' }).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
