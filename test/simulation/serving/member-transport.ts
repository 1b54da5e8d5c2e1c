/** The way between simulated members: messages are the bytes that cross between real ones. */

import { wiresOf } from '../../../cluster/actors/actor-wire.ts'
import type { ActorWire } from '../../../cluster/actors/actor-wire.ts'
import { RecentCommands } from '../../../cluster/actors/recent-commands.ts'
import type { ActorKey, Asked, Inbound, Member as Name } from '../../../cluster/index.ts'
import type { GrpcTransport } from '../../../cluster/transport/grpc/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import type { Process } from '../process.ts'
import type { Ways } from '../ways.ts'
import { carryCalls } from './carried-calls.ts'

/** The entrance of a member, at which the messages of others arrive. */
export class MemberEntrance {
  readonly process: Process
  readonly #wireOf: (key: ActorKey) => ActorWire
  readonly #recent: RecentCommands
  inbound: Inbound | undefined

  constructor(process: Process, kinds: readonly Asked[]) {
    this.process = process
    this.#wireOf = wiresOf(kinds)
    this.#recent = new RecentCommands(process.env)
  }

  /** Takes a command of another member; a repeated command gets its first reply. */
  async deliver(key: ActorKey, command: Uint8Array, id: string): Promise<Uint8Array> {
    const { values } = this.#wireOf(key)
    return await this.#recent.answer(id,
      async (cancelled) =>
        values.encode(await this.#open().ask(key, values.decode(command), { id, cancelled })))
  }

  leave(id: string): void {
    this.#recent.leave(id)
  }

  async follow(key: ActorKey, request: Uint8Array,
    send: (call: Uint8Array, last: boolean) => void): Promise<() => void> {
    const { values, listeners } = this.#wireOf(key)
    return await this.#open().follow(key, values.decode(request), listeners!.sender(send))
  }

  #open(): Inbound {
    if (this.inbound !== undefined) return this.inbound
    throw new HeddleError('unavailable', 'It does not listen yet.', { unreachable: 'starting' })
  }
}

export interface MemberTransportOptions {
  readonly process: Process
  readonly ways: Ways<MemberEntrance>
  readonly kinds: readonly Asked[]
}

/** The transport of a member to the entrances of others. */
export function memberTransport({ process, ways, kinds }: MemberTransportOptions): GrpcTransport {
  const wireOf = wiresOf(kinds)
  const { env } = process
  return {
    deliver: async (to: Name, key, command, { id = env.uuid(), cancelled } = {}) => {
      const { values } = wireOf(key)
      const bytes = values.encode(command)
      const leave = () =>
        void ways.call(process, to, async (other) => other.leave(id))
          .catch(() => {})
      cancelled?.addEventListener('abort', leave)
      try {
        return values.decode(await ways.call(process, to, (other) => other.deliver(key, bytes, id)))
      } finally {
        cancelled?.removeEventListener('abort', leave)
      }
    },
    follow: async (to, key, question, listener) => {
      const { values, listeners } = wireOf(key)
      if (listeners === undefined) throw new HeddleError('unsupported')
      const request = values.encode(question)
      const carried = carryCalls({ process, ways, to,
        notify: (call) => listeners.notify(listener, call),
        lost: () => listeners.end(listener, 'lost') })
      // A message may arrive twice.
      let begun: Promise<() => void> | undefined
      try {
        const stop = await ways.call(process, to, (other) =>
          begun ??= other.follow(key, request, carried.send))
        return carried.begin(() => void ways.call(process, to, async () => stop()).catch(() => {}))
      } catch (error) {
        carried.end()
        throw error
      }
    },
    lastSeenMs: () => Number.NEGATIVE_INFINITY,
    forget: () => {},
    close: () => {},
  }
}
