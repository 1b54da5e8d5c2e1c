/**
 * Ports of this machine at which bare paths are those of one deployment: its code calls its own
 * server as `http://localhost:$PORT`.
 */

import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { ConnectionQuota } from '../http/connections/connection-quota.ts'
import type { ConnectionTicker } from '../http/connections/connection-ticker.ts'
import { onePort } from '../http/connections/one-port.ts'
import type { OnePort } from '../http/connections/one-port.ts'

/** Parts with which the ports of deployments are opened. */
export interface DeploymentPortsParts {
  readonly quota: Pick<ConnectionQuota, 'admits'>
  readonly ticker: Pick<ConnectionTicker, 'add' | 'remove'>
  /** The names of all deployments: ports of others are closed. */
  readonly names: () => readonly string[]
}

interface OpenPort {
  readonly connections: OnePort
  readonly server: Server
  readonly url: Promise<string>
}

const loopback = '127.0.0.1'
const origin = /^https?:\/\/[^/?#]*/i

/** The ports of a front door. They answer with its handler, which sees paths below `/d`. */
export class DeploymentPorts {
  readonly #parts: DeploymentPortsParts
  readonly #ports = new Map<string, OpenPort>()
  #handler: RequestListener | undefined

  constructor(parts: DeploymentPortsParts) {
    this.#parts = parts
  }

  /** Answers with this handler. Call before a port is opened. */
  handle(handler: RequestListener): void {
    this.#handler = handler
  }

  /** The URL at which a deployment answers at its root. Throws if it cannot listen. */
  urlOf(name: string): Promise<string> {
    this.#closeOthers(new Set([...this.#parts.names(), name]))
    const port = this.#ports.get(name) ?? this.#open(name)
    this.#ports.set(name, port)
    return port.url
  }

  /** Accepts no more connections. Resolves when all requests are answered. */
  async close(): Promise<void> {
    await Promise.all([...this.#ports.values()].map(async ({ server, url }) => {
      await url.catch(() => {})
      if (!server.listening) return
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeIdleConnections()
      })
    }))
  }

  /** Ends every connection at once. */
  destroyConnections(): void {
    for (const { connections } of this.#ports.values()) connections.destroyConnections()
  }

  #closeOthers(names: ReadonlySet<string>): void {
    for (const [name, { connections, server }] of this.#ports) {
      if (names.has(name)) continue
      this.#ports.delete(name)
      this.#parts.ticker.remove(connections)
      server.close()
      connections.destroyConnections()
    }
  }

  #open(name: string): OpenPort {
    const connections = onePort(this.#parts.quota)
    this.#parts.ticker.add(connections)
    const server = connections.serve((request, response) => {
      // A path below another deployment is one below this, and is not found.
      request.url = `/d/${name}${(request.url ?? '/').replace(origin, '')}`
      this.#handler!(request, response)
    })
    const { promise: url, resolve, reject } = Promise.withResolvers<string>()
    server.once('error', (error) => {
      // The next process of the deployment tries again.
      this.#ports.delete(name)
      this.#parts.ticker.remove(connections)
      reject(error)
    })
    server.listen(0, loopback, () => {
      resolve(`http://${loopback}:${(server.address() as AddressInfo).port}`)
    })
    return { connections, server, url }
  }
}
