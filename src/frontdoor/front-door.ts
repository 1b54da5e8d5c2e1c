/** The front door: opened on a host and port, it serves every wire until it is closed. */

import { fastify } from 'fastify'
import type { RawServerDefault } from 'fastify'
import type { AddressInfo } from 'node:net'

import { localTenant } from './caller.ts'
import { addConnect } from './connect/plugin.ts'
import { addGuard } from './guard.ts'
import { onePort } from './one-port.ts'
import { operationsOver } from './operations/index.ts'
import type { OperationParts } from './operations/index.ts'
import { Pulse } from './pulse.ts'
import { addRest } from './rest/app.ts'
import { errorReply } from './rest/error-reply.ts'
import { keepLocal } from './rest/local-safety.ts'
import type { Schemas } from './rest/route.ts'
import type { ServerFacts } from './rest/server.ts'

export interface FrontDoorOptions extends OperationParts,
  Pick<ServerFacts, 'checkStore' | 'clusterStatus' | 'region'> {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Of this server, as `/info` tells it. */
  readonly version: string
  /** 25 MiB unless told. */
  readonly bodyLimitBytes?: number
  /** Whose pages may call beside our own, `*` for anybody's; unless told, those of this machine. */
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

const defaultBodyLimitBytes = 25 * 1024 * 1024

/** Namespaces of subgraphs in paths are longer than ids. */
const longestParameter = 1_000

/** Resolves when it serves. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { host, env, bodyLimitBytes = defaultBodyLimitBytes } = options
  const operations = operationsOver(options)
  await operations.assistants.makeSystemAssistants(localTenant)
  const port = onePort()
  const pulse = new Pulse(env)
  pulse.add(port)
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: errorReply(env.log),
    serverFactory: (handler) => port.serve(handler) as RawServerDefault,
  }).withTypeProvider<Schemas>()
  app.setErrorHandler(errorReply(env.log))
  await keepLocal(app, options)
  addGuard(app)
  const parts = { ...operations, pulse }
  const { version, region, checkStore, clusterStatus } = options
  await addRest(app, { ...parts, version, region, checkStore, clusterStatus })
  await app.register(addConnect, { ...parts, log: env.log, readMaxBytes: bodyLimitBytes })
  try {
    await app.listen({ host, port: options.port })
  } catch (error) {
    pulse.stop()
    throw error
  }
  return {
    url: urlOf(host, app.server.address() as AddressInfo),
    close: async (deadline) => {
      const cut = () => port.destroyConnections()
      if (deadline.aborted) cut()
      deadline.addEventListener('abort', cut, { once: true })
      pulse.stop()
      await app.close()
      deadline.removeEventListener('abort', cut)
    },
  }
}

function urlOf(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
