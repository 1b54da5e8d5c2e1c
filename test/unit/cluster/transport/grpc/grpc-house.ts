/** Members that speak gRPC on the loopback; the test answers the calls of their games. */

import { onTestFinished } from 'vitest'

import { plainValues, systemEnv } from '../../../../../cluster/index.ts'
import type { ActorWire, ProtocolIdentity, GrpcServer, GrpcServerOptions, GrpcTransportOptions,
  Inbound, Member, MemberTrust } from '../../../../../cluster/index.ts'
import { grpcTransport } from '../../../../../cluster/transport/grpc/grpc-transport.ts'
import { openGrpcServer } from '../../../../../cluster/transport/grpc/server.ts'
import { HeddleError } from '../../../../../src/errors.ts'

export const trust: MemberTrust = { secret: 'the-secret-of-this-cluster' }
export const identity: ProtocolIdentity = { cluster: 'chess club', version: 1 }
export const env = systemEnv({ level: 'silent' })

/** A watcher of a game: its moves, and how the follow ended. */
export interface Watcher {
  moves(moves: readonly string[]): void
  ended(how: 'over' | 'lost' | 'lagged'): void
}

type Seen = { readonly moves: readonly string[] } | { readonly ended: 'over' }

export const gameWire: ActorWire = {
  values: plainValues,
  listeners: {
    sender: (send): Watcher => ({
      moves: (moves) => send(plainValues.encode({ moves }), false),
      ended: (ended) => send(plainValues.encode({ ended }), true),
    }),
    notify: (listener, call) => {
      const seen = plainValues.decode(call) as Seen
      if ('moves' in seen) (listener as Watcher).moves(seen.moves)
      else (listener as Watcher).ended(seen.ended)
    },
    end: (listener, how) => (listener as Watcher).ended(how),
  },
}

export const kinds = [{ name: 'game', wire: gameWire }]
export const white = { kind: 'game', tenant: 'local', id: 'white' }

/** A member that answers as `inbound` does; calls that this lacks are never answered. */
export async function memberThat(inbound: Partial<Inbound>,
  options: Partial<GrpcServerOptions> = {}): Promise<Member & { readonly server: GrpcServer }> {
  const id = options.id ?? 'white'
  const server = await openGrpcServer(
    { env, id, identity, trust, kinds, host: '127.0.0.1', ...options },
  )
  onTestFinished(() => server.close(AbortSignal.abort()))
  server.serve({
    ask: () => new Promise(() => {}),
    follow: () => new Promise(() => {}),
    ...inbound,
  })
  return { id, address: server.address, server }
}

export function transportWith(options: Partial<GrpcTransportOptions> = {}) {
  const transport = grpcTransport({ env, trust, identity, kinds, reviveError: HeddleError.revive,
    ...options })
  onTestFinished(() => transport.close())
  return transport
}

/** A watcher that keeps its moves and how it ended. */
export function keeping() {
  const moves: string[] = []
  const end = Promise.withResolvers<string>()
  const watcher: Watcher = {
    moves: (seen) => void moves.push(...seen),
    ended: (how) => end.resolve(how),
  }
  return { watcher, moves, ended: end.promise }
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
