/** What other members ask of this one, by gRPC: deliver, follow, probe, health, reflection. */

import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { createServer } from 'nice-grpc'
import type { Server } from 'nice-grpc'

import { MemberServiceDefinition } from '../proto/gen/cluster/v1/member.ts'
import { HealthDefinition } from '../proto/gen/grpc/health/v1/health.ts'
import { HeddleError } from '../src/errors.ts'
import type { Asked } from './actor-wire.ts'
import type { Env } from './env.ts'
import { errorsToWire } from './grpc-errors.ts'
import { onlyTrusted, serverCredentials } from './grpc-gatekeeper.ts'
import { Health } from './grpc-health.ts'
import { MemberService } from './grpc-member-service.ts'
import { serverOptions } from './grpc-options.ts'
import { addReflection } from './grpc-reflection.ts'
import { checkTrust } from './member-trust.ts'
import type { Dialect, MemberTrust } from './member-trust.ts'
import type { Inbound } from './transport.ts'

export interface GrpcServerOptions {
  readonly env: Env
  /** The id of this member. */
  readonly id: string
  readonly dialect: Dialect
  readonly trust: MemberTrust
  readonly kinds: readonly Asked[]
  /** Where others reach this process; it listens there and nowhere else. */
  readonly host: string
  /** 0, unless told, for any that is free. */
  readonly port?: number
}

export interface GrpcServer {
  /** Where it answers: what the member names as its address. */
  readonly address: string
  /** From now on commands are heard; before, only probes are answered. */
  serve(inbound: Inbound): void
  /** It belongs to the others: from now on the log hears of strangers. */
  belongs(): void
  /** Followers are told at once that they are lost; calls that are under way have their time. */
  close(deadline: AbortSignal): Promise<void>
}

/** What keeps a member from its address, by what the system calls it. */
const obstacles: readonly (readonly [RegExp, string])[] = [
  [/EADDRINUSE/, 'is in use: each member needs an address of its own'],
  [/EADDRNOTAVAIL/, 'is no address of this machine'],
  [/EACCES/, 'needs rights that this user has not: choose a port above 1023'],
  [/resolution failed/, 'is not known here'],
]

/** Throws HeddleError with a sentence: for a bad secret, or where it cannot listen. */
export async function openGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const { env, trust, host, port = 0 } = options
  checkTrust(trust)
  // Whatever fails is thrown: the library's own lines would go by the log.
  setLogVerbosity(logVerbosity.NONE)
  const health = new Health()
  const members = new MemberService(options)
  let belongs = false
  const server = createServer(serverOptions).use(errorsToWire(env.log))
    .use(onlyTrusted(trust, env, () => belongs))
  server.add(MemberServiceDefinition, members)
  server.add(HealthDefinition, health)
  addReflection(server)
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const taken = await listening(server, `${name}:${port}`, trust)
  return {
    address: `${name}:${taken}`,
    serve: (inbound) => {
      members.serve(inbound)
      health.say('SERVING')
    },
    belongs: () => { belongs = true },
    close: async (deadline) => {
      health.close()
      members.close()
      await shutDown(server, deadline)
    },
  }
}

async function listening(server: Pick<Server, 'listen'>, address: string, trust: MemberTrust):
Promise<number> {
  try {
    return await server.listen(address, serverCredentials(trust))
  } catch (error) {
    const { message } = error as Error
    const [, sentence = `cannot be taken: ${message}`] =
      obstacles.find(([sign]) => sign.test(message)) ?? []
    throw new HeddleError('unavailable', `The member address ${address} ${sentence}.`, {},
      { cause: error })
  }
}

async function shutDown(server: Pick<Server, 'shutdown' | 'forceShutdown'>, deadline: AbortSignal):
Promise<void> {
  const force = () => server.forceShutdown()
  deadline.addEventListener('abort', force)
  if (deadline.aborted) force()
  await server.shutdown()
  deadline.removeEventListener('abort', force)
}
