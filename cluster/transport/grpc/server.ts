/** The gRPC server for other members: deliver, follow, probe, health, reflection. */

import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import type { ServerCredentials } from '@grpc/grpc-js'
import { createServer } from 'nice-grpc'
import type { Server } from 'nice-grpc'

import { MemberServiceDefinition } from '../../../proto/gen/cluster/v1/member.ts'
import { HealthDefinition } from '../../../proto/gen/grpc/health/v1/health.ts'
import { ClusterError, messageOf } from '../../errors.ts'
import type { Asked } from '../../actors/actor-wire.ts'
import type { Env } from '../../runtime/env.ts'
import { checkTrust } from '../member-trust.ts'
import type { ProtocolIdentity, MemberTrust } from '../member-trust.ts'
import type { Inbound } from '../transport.ts'
import { errorsToWire } from './error-trailer.ts'
import { onlyTrusted, serverCredentials } from './gatekeeper.ts'
import { Health } from './health.ts'
import { MemberService } from './member-service.ts'
import { serverOptions } from './options.ts'
import { addReflection } from './reflection.ts'

/** Address, identity and trust of the server of a member. */
export interface GrpcServerOptions {
  readonly env: Env
  /** The id of this member. */
  readonly id: string
  readonly identity: ProtocolIdentity
  readonly trust: MemberTrust
  readonly kinds: readonly Asked[]
  /** The address at which others reach this process, and the only one that it listens on. */
  readonly host: string
  /** 0, the default, for any that is free. */
  readonly port?: number
}

/** The server of one member. */
export interface GrpcServer {
  /** The host and port that it listens on: the address of the member. */
  readonly address: string
  /** From now on commands are accepted; before, only probes are answered. */
  serve(inbound: Inbound): void
  /** The member belongs to the cluster: from now on callers without trust are logged. */
  belongs(): void
  /** Followers are notified at once that they are lost; calls under way have until the deadline. */
  close(deadline: AbortSignal): Promise<void>
}

/** Reasons why a member cannot listen on its address, by the error of the system. */
const obstacles: readonly (readonly [RegExp, string])[] = [
  [/EADDRINUSE/, 'is in use: each member needs an address of its own'],
  [/EADDRNOTAVAIL/, 'is no address of this machine'],
  [/EACCES/, 'needs rights that this user has not: choose a port above 1023'],
  [/resolution failed/, 'is not known here'],
]

/** Throws CodedError with a message: for a bad secret, or if it cannot listen. */
export async function openGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { env, trust, host, port = 0 } = options
  checkTrust(trust)
  // Whatever fails is thrown; the library would print lines of its own past the log.
  setLogVerbosity(logVerbosity.NONE)
  const health = new Health()
  const members = new MemberService(options)
  let belongs = false
  const interceptors = [onlyTrusted(trust, env, () => belongs)]
  const server = createServer({ ...serverOptions, interceptors }).use(errorsToWire(env.log))
  server.add(MemberServiceDefinition, members)
  server.add(HealthDefinition, health)
  addReflection(server)
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const taken = await listening(server, `${name}:${port}`, serverCredentials(trust, env))
  return {
    address: `${name}:${taken}`,
    serve: (inbound) => {
      members.serve(inbound)
      health.send('SERVING')
    },
    belongs: () => {
      belongs = true
    },
    close: async (deadline) => {
      health.close()
      members.close()
      await shutDown(server, deadline)
    },
  }
}

async function listening(server: Pick<Server, 'listen'>, address: string,
  credentials: ServerCredentials): Promise<number> {
  try {
    return await server.listen(address, credentials)
  } catch (error) {
    const message = messageOf(error)
    const [, text = `cannot be taken: ${message}`] = obstacles.find(([sign]) =>
      sign.test(message)
    ) ?? []
    throw new ClusterError('unavailable', `The member address ${address} ${text}.`, {}, {
      cause: error,
    })
  }
}

async function shutDown(server: Pick<Server, 'shutdown' | 'forceShutdown'>,
  deadline: AbortSignal): Promise<void> {
  const force = () => server.forceShutdown()
  deadline.addEventListener('abort', force)
  if (deadline.aborted) force()
  await server.shutdown()
  deadline.removeEventListener('abort', force)
}
