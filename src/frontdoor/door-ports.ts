/** The ports of a front door: the main one, the platform's own, and those of deployments. */

import type { FastifyInstance } from 'fastify'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { FrontDoorOptions } from './front-door-options.ts'
import { ReturnPort } from './custom/index.ts'
import { ConnectionQuota } from './http/connections/connection-quota.ts'
import type { ConnectionQuotaOptions } from './http/connections/connection-quota.ts'
import { ConnectionTicker } from './http/connections/connection-ticker.ts'
import { onePort, unguessed } from './http/connections/one-port.ts'
import { DeploymentPorts } from './mount/index.ts'
import { PlatformPort } from './platform-rest/platform-port.ts'

type Options = Pick<FrontDoorOptions,
  'env' | 'host' | 'port' | 'nextPorts' | 'platformPort' | 'connections' | 'deployments'>

/** The addresses of ports that listen. */
export interface DoorAddresses {
  readonly url: string
  /** Undefined if the platform has no port of its own. */
  readonly platformUrl: string | undefined
}

const anyConnections: ConnectionQuotaOptions = { perAddress: Infinity, isExempt: () => true }

/** Ports that share a ticker and a bound on connections. All answer with one handler. */
export class DoorPorts {
  readonly ticker: ConnectionTicker
  /** The port at which requests come back from middleware of apps. */
  readonly returns = new ReturnPort()
  readonly #options: Options
  readonly #quota: ConnectionQuota
  readonly #main
  readonly #platform: PlatformPort | undefined
  readonly #deployments: DeploymentPorts | undefined

  constructor(options: Options) {
    const { env, connections = anyConnections, platformPort, deployments } = options
    this.#options = options
    const quota = this.#quota = new ConnectionQuota(connections)
    this.ticker = new ConnectionTicker(env)
    this.#main = onePort(quota)
    this.ticker.add(this.#main)
    if (platformPort !== undefined) {
      this.#platform = new PlatformPort(quota)
      this.ticker.add(this.#platform.connections)
    }
    this.#deployments = deployments &&
      new DeploymentPorts({ quota, ticker: this.ticker,
        names: () => deployments.serving.all().map(({ name }) => name) })
  }

  /** Connections that were refused because their address had too many. */
  get refused(): number {
    return this.#quota.refused
  }

  /** The server of the main port. All ports answer with this handler from now on. */
  serve(routed: RequestListener): Server {
    const handler = unguessed(routed)
    this.#platform?.handle(handler)
    this.returns.handle(handler)
    this.#deployments?.handle(handler)
    return this.#main.serve(handler)
  }

  /** Opens the main port and the platform's. Throws the system's error if one cannot listen. */
  async listen(app: FastifyInstance): Promise<DoorAddresses> {
    const { host, platformPort } = this.#options
    await listen(app, this.#options)
    const port = await this.#platform?.listen(host, platformPort!)
    return { url: urlOf(host, app.server.address() as AddressInfo),
      platformUrl: port === undefined ? undefined : urlOf(host, { port }) }
  }

  /** The address at which a deployment answers at its root. Throws if there are no deployments. */
  async urlOfDeployment(name: string): Promise<string> {
    return await this.#deployments!.urlOf(name)
  }

  /** Closes the ports beside the main one, which the application closes. */
  async close(): Promise<void> {
    await Promise.all([this.#platform?.close(), this.#deployments?.close(), this.returns.close()])
  }

  /** Ends every connection at once. */
  destroyConnections(): void {
    this.#main.destroyConnections()
    this.returns.destroyConnections()
    this.#platform?.connections.destroyConnections()
    this.#deployments?.destroyConnections()
  }
}

/** Tries the ports in order. Throws the system's error for the first one if all are taken. */
async function listen(app: FastifyInstance, { host, port, nextPorts = 0 }: Options): Promise<void> {
  let first: unknown
  for (let next = port; next <= Math.min(port + nextPorts, 65_535); next++) {
    try {
      await app.listen({ host, port: next })
      return
    } catch (error) {
      first ??= error
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  throw first
}

function urlOf(host: string, { port }: Pick<AddressInfo, 'port'>): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
