/** A separate port for metrics, so that monitors need no access to the front door. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { isOneOf } from '../../json/index.ts'
import type { Metrics } from './metrics.ts'

/** An open port for metrics. */
export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

const formats = ['prometheus', 'json'] as const

/** Opens the port. Throws if it cannot listen. */
export async function openMetricsServer(metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number }): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const [path, query] = request.url!.split('?', 2)
    const format = new URLSearchParams(query).get('format') ?? 'prometheus'
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path !== '/metrics' || !isRead || !isOneOf(formats, format)) {
      response.writeHead(404).end()
      return
    }
    const isJson = format === 'json'
    const type = isJson ? 'application/json' : metrics.contentType
    const read = isJson ? metrics.json() : metrics.text()
    read.then(
      (text) => response.writeHead(200, { 'content-type': type }).end(text),
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
