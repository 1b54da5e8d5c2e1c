/** The typed API over Connect, gRPC-Web and gRPC, on the same port as REST. */

import type { Interceptor } from '@connectrpc/connect'
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify'
import type { FastifyRequest } from 'fastify'

import type { Log } from '../../../cluster/index.ts'
import { AssistantService } from '../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { CronService } from '../../../proto/gen/frontdoor/v1/cron_pb.js'
import { RunService } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import { StoreService } from '../../../proto/gen/frontdoor/v1/store_pb.js'
import { ThreadService } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import { HeddleError } from '../../errors.ts'
import { openReplyHeaders } from '../http/connections/connection-ticker.ts'
import { detailsOf } from '../http/exchange.ts'
import type { App, RouteParts } from '../http/route.ts'
import type { BodyReaders } from '../rest/body.ts'
import { assistantService } from './assistant-service.ts'
import { withCaller } from './caller-value.ts'
import { blameRequest, errorsAsStatus } from './connect-error.ts'
import { cronService } from './cron-service.ts'
import { readLongFields } from './long-fields.ts'
import { bodyBytesMaxKey, modest } from './message-limits.ts'
import { detailsKey } from './request-details.ts'
import { runService } from './run-service.ts'
import { storeService } from './store-service.ts'
import { threadService } from './thread-service.ts'
import { holdMessages, withDelivery } from './unread.ts'

/** Parts of the front door that the typed API shares with REST, and its own bound. */
export interface ConnectOptions extends RouteParts, BodyReaders {
  readonly log: Log
  /** Bytes of the largest message that is read. */
  readonly readMaxBytes: number
}

/** Adds the typed API to an app. Call after the guard is added. */
export async function addConnect(app: App, options: ConnectOptions): Promise<void> {
  const valuesWith = withDelivery(app)
  app.addHook('onRequest', refuseCompressed)
  await app.register(fastifyConnectPlugin, {
    routes: (router) => {
      router.service(AssistantService, assistantService(options))
      router.service(ThreadService, threadService(options))
      router.service(RunService, runService(options))
      router.service(StoreService, storeService(options))
      router.service(CronService, cronService(options))
      const { handlers } = router
      for (const [at, handler] of handlers.entries()) {
        handlers[at] = modest(handler, options.readMaxBytes)
      }
    },
    interceptors: [promptly, holdMessages, errorsAsStatus(options.log), readLongFields(options)],
    contextValues: (request) =>
      valuesWith(request,
        withCaller(request).set(detailsKey, detailsOf(request)).set(bodyBytesMaxKey,
          request.deployment?.bodyBytesMax ?? Infinity)),
    requestGate: blameRequest,
    // Compression is off: a few bytes can inflate to any size.
    acceptCompression: [],
    readMaxBytes: options.readMaxBytes,
  })
}

const encodings = ['content-encoding', 'connect-content-encoding', 'grpc-encoding'] as const

/**
 * Refuses compressed calls before the body is read. The library would answer 501, but a permanent
 * error is never a 5xx.
 */
function refuseCompressed({ headers }: FastifyRequest, _reply: unknown,
  done: (error?: Error) => void): void {
  const encoding = encodings.map((name) => headers[name]).find((each) => each !== undefined)
  if (encoding === undefined || encoding === 'identity') return done()
  done(new HeddleError('invalid', 'Compressed calls are not offered: send messages as they ' +
    `are, without the encoding ${encoding}.`))
}

/** Gives streams the headers that let proxies pass on each message at once. */
const promptly: Interceptor = (next) => async (call) => {
  const answer = await next(call)
  if (answer.stream) {
    for (const [name, value] of Object.entries(openReplyHeaders)) answer.header.set(name, value)
  }
  return answer
}
