/** A second port at which bare paths are the platform's: `POST /runs` takes a span in there. */

import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { isAmbiguous } from '../../limits/index.ts'
import type { ConnectionQuota } from '../http/connections/connection-quota.ts'
import { onePort } from '../http/connections/one-port.ts'
import type { OnePort } from '../http/connections/one-port.ts'
import { platformTarget } from './platform-target.ts'

/** The port. It answers with the handler of the main port, which sees paths below `/api`. */
export class PlatformPort {
  readonly connections: OnePort
  #server: Server | undefined

  constructor(quota: Pick<ConnectionQuota, 'admits'>) {
    this.connections = onePort(quota)
  }

  /** Answers with this handler. Call before it listens. */
  handle(handler: RequestListener): void {
    this.#server = this.connections.serve((request, response) => {
      const { url = '/' } = request
      // The main port refuses ambiguous paths as they came.
      request.url = isAmbiguous(url) ? url : platformTarget(url)
      handler(request, response)
    })
  }

  /** Resolves with the port that it got. Throws the system's error if it cannot listen. */
  async listen(host: string, port: number): Promise<number> {
    const server = this.#server!
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return (server.address() as AddressInfo).port
  }

  /** Accepts no more connections. Resolves when all requests are answered. */
  async close(): Promise<void> {
    const server = this.#server
    if (server?.listening !== true) return
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeIdleConnections()
    })
  }
}
