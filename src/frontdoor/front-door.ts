/** The front door: opened on a host and port, it serves every protocol until it is closed. */

import { fastify } from 'fastify'
import type { RawServerDefault } from 'fastify'
import type { AddressInfo } from 'node:net'

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { holdBodies } from './body-room.ts'
import { localTenant } from './caller.ts'
import { accessOfCalls } from './connect/access.ts'
import { addConnect } from './connect/plugin.ts'
import { addExchanges, givenId } from './exchange.ts'
import type { ExchangeParts } from './exchange.ts'
import { addGuard } from './guard.ts'
import type { Limit } from './guard.ts'
import { asLocal, identifyBy } from './identify.ts'
import type { AuthOptions } from './identify.ts'
import type { KeyStats } from './key-book.ts'
import { plainTarget } from './limits/request-path.ts'
import { onePort } from './one-port.ts'
import { operationsOver } from './operations/index.ts'
import type { OperationParts, Operations } from './operations/index.ts'
import { Pulse } from './pulse.ts'
import type { OpenReplies } from './pulse.ts'
import { addRest } from './rest/app.ts'
import { errorReply } from './rest/error-reply.ts'
import { keepLocal } from './rest/local-safety.ts'
import type { Schemas } from './rest/route.ts'
import type { ServerFacts } from './rest/server.ts'
import { holdAnswers } from './rest/unread.ts'
import type { UnreadOptions } from './rest/unread.ts'
import { refuseUnreadable } from './rest/unreadable.ts'
import { whenAborted } from './when-aborted.ts'

export interface FrontDoorOptions extends OperationParts,
  Pick<ServerFacts, 'dependencies' | 'clusterStatus' | 'metrics' | 'region'>,
  Pick<ExchangeParts, 'tracing' | 'heard'> {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** The version of this server, for `/info`. */
  readonly version: string
  /** 25 MiB by default. */
  readonly bodyLimitBytes?: number
  /** Of all bodies that are being received; 512 MiB by default. */
  readonly bodiesLimitBytes?: number
  /** Of long answers that clients have not read yet. */
  readonly unread?: UnreadOptions
  /** Origins besides our own that may call, `*` for all; by default, those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** How callers are authenticated; by default, not at all. */
  readonly auth?: AuthOptions
  /** By default, there are no limits. */
  readonly limit?: Limit
}

export interface FrontDoor {
  readonly url: string
  stats(): FrontDoorStats
  /**
   * Accepts no more requests and cuts streams, so that their clients reconnect; all others are
   * still answered. At `deadline` everything that is left is cut.
   */
  close(deadline: AbortSignal): Promise<void>
  /** Counts of API keys; undefined if none are required. */
  keyStats(): KeyStats | undefined
}

/** What is open at a front door right now. */
export interface FrontDoorStats {
  readonly requests: number
  readonly replies: OpenReplies
}

const defaultBodyLimitBytes = 25 * 1024 * 1024
const defaultBodiesLimitBytes = 512 * 1024 * 1024

/** More than headers may have: the router would refuse a longer one before anybody is charged. */
const longestParameter = 1024 * 1024

/** Resolves when it serves. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { host, env, auth, limit, bodyLimitBytes = defaultBodyLimitBytes,
    bodiesLimitBytes = defaultBodiesLimitBytes } = options
  const operations = operationsOver(options)
  if (auth === undefined) await welcomeLocal(operations, env)
  const port = onePort()
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: longestParameter },
    genReqId: ({ headers }) => givenId(headers) ?? env.uuid(),
    frameworkErrors: errorReply(env.log),
    clientErrorHandler: refuseUnreadable,
    // The router gets the path in the same form as the limits.
    rewriteUrl: ({ url = '/' }) => plainTarget(url),
    serverFactory: (handler) => port.serve(handler) as RawServerDefault,
  }).withTypeProvider<Schemas>()
  app.setErrorHandler(errorReply(env.log))
  const underWay = addExchanges(app, options)
  await keepLocal(app, options)
  const { identify, keyStats } = auth === undefined ? asLocal : identifyBy(auth, env)
  addGuard(app, { identify, limit, accessOf: new Map([...accessOfCalls, ['/docs/*', 'public']]) })
  holdBodies(app, { longest: bodyLimitBytes, inAll: bodiesLimitBytes })
  // A single tenant takes no room from others.
  holdAnswers(app, { reads: options.reads, log: env.log },
    { ...auth === undefined && { ofTenant: Infinity }, ...options.unread })
  const pulse = new Pulse(env)
  pulse.add(port)
  const parts = { ...operations, pulse, reads: options.reads }
  await addRest(app, { ...options, ...parts })
  await app.register(addConnect, { ...parts, log: env.log, readMaxBytes: bodyLimitBytes })
  try {
    await app.listen({ host, port: options.port })
  } catch (error) {
    pulse.stop()
    throw error
  }
  return {
    url: urlOf(host, app.server.address() as AddressInfo),
    stats: () => ({ requests: underWay.count, replies: pulse.openReplies() }),
    keyStats,
    close: async (deadline) => {
      using _ = whenAborted(deadline, () => port.destroyConnections())
      pulse.stop()
      await app.close()
    },
  }
}

/** If an owner cannot be reached now, the first request makes them: no reason to fail. */
async function welcomeLocal({ assistants }: Operations, { log }: Env): Promise<void> {
  try {
    await assistants.welcome(localTenant)
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    if (error.code !== 'unavailable' && !error.ambiguous) throw error
    log.warn('The assistants of the graphs cannot be made yet; the first request makes them.',
      { error })
  }
}

function urlOf(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
