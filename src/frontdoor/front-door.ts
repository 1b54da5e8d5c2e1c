/** The front door: opened on a host and port, it serves every wire until it is closed. */

import { fastify } from 'fastify'
import type { RawServerDefault } from 'fastify'
import type { AddressInfo } from 'node:net'

import { addConnect } from './connect/plugin.ts'
import { onePort } from './one-port.ts'
import type { OnePort } from './one-port.ts'
import { localTenant, operationsOver } from './operations/index.ts'
import type { OperationParts } from './operations/index.ts'
import { Pulse } from './pulse.ts'
import { addRest } from './rest/app.ts'
import { errorReply } from './rest/error-reply.ts'
import { keepLocal } from './rest/local-safety.ts'
import type { App, Schemas } from './rest/route.ts'

export interface FrontDoorOptions extends OperationParts {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Of this server, as `/info` tells it. */
  readonly version: string
  /** 25 MiB unless told. */
  readonly bodyLimitBytes?: number
  /** Origins beside our own whose pages may call, `*` for any; those of this machine unless told. */
  readonly allowOrigins?: readonly string[]
}

export interface FrontDoor {
  readonly url: string
  /**
   * Takes no more requests and breaks streams off, so that their clients come back; what is short
   * is answered. At `deadline` everything that is left is cut.
   */
  close(deadline: AbortSignal): Promise<void>
}

const bodyLimitBytes = 25 * 1024 * 1024

/** Resolves when it serves. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { host, port, env } = options
  const operations = operationsOver(options)
  await operations.assistants.makeSystemAssistants(localTenant)
  const pulse = new Pulse(env)
  const { app, ports } = serverOf(options)
  app.setErrorHandler(errorReply(env.log))
  await keepLocal(app, options)
  const parts = { ...operations, pulse, tenant: localTenant, version: options.version, log: env.log }
  await app.register(addRest, parts)
  await app.register(addConnect, { ...parts, readMaxBytes: options.bodyLimitBytes ?? bodyLimitBytes })
  await app.listen({ host, port })
  return {
    url: urlOf(host, app.server.address() as AddressInfo),
    close: async (deadline) => {
      const cut = () => { for (const each of ports) each.destroyConnections() }
      deadline.addEventListener('abort', cut, { once: true })
      pulse.stop()
      for (const each of ports) each.retire()
      if (deadline.aborted) cut()
      await app.close()
    },
  }
}

/** A host name may stand for several addresses: each gets a server of its own. */
function serverOf(options: FrontDoorOptions): { app: App; ports: OnePort[] } {
  const ports: OnePort[] = []
  const app = fastify({
    bodyLimit: options.bodyLimitBytes ?? bodyLimitBytes,
    exposeHeadRoutes: false,
    serverFactory: (handler) => {
      const port = onePort(handler)
      ports.push(port)
      return port.server as RawServerDefault
    },
  }).withTypeProvider<Schemas>()
  return { app, ports }
}

function urlOf(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
