/** Asks services of members, for an operator that is no member itself. */

import type { Asked } from './actors/actor-wire.ts'
import type { ReviveError } from './errors.ts'
import type { Member } from './member.ts'
import { serviceKey } from './routing/service.ts'
import type { Env } from './runtime/env.ts'
import { checkTrust, protocolVersion } from './transport/member-trust.ts'
import type { MemberTrust } from './transport/member-trust.ts'

/** Trust, cluster name and wires for calls to members. */
export interface MemberCallerOptions {
  readonly env: Env
  readonly cluster: string
  readonly trust: MemberTrust
  /** Names and codecs of the services that are asked. */
  readonly wires: readonly Asked[]
  readonly reviveError: ReviveError
}

/** Connections to members, which their owner closes. */
export interface MemberCaller {
  /** The answer. Throws what the service threw, or `unavailable` if the member is not reached. */
  ask(member: Member, service: string, question: unknown): Promise<unknown>
  close(): void
}

/** Connects when the first question is asked. Throws CodedError for a malformed secret. */
export async function openMemberCaller(
  { env, cluster, trust, wires, reviveError }: MemberCallerOptions,
): Promise<MemberCaller> {
  checkTrust(trust)
  const { grpcTransport } = await import('./transport/grpc/index.ts')
  const identity = { cluster, version: protocolVersion }
  const transport = grpcTransport({ env, trust, identity, reviveError, kinds: wires })
  return {
    ask: (member, service, question) => transport.deliver(member, serviceKey(service), question),
    close: () => transport.close(),
  }
}
