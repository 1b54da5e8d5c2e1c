/** Bytes in which commands, replies and listener calls cross to another member. */

import { assert } from '../errors.ts'
import type { ActorKey } from './actor-key.ts'

/** A member of version N reads what one of N+1 wrote, and ignores what it does not know. */
export interface ActorWire<Listener = unknown, Request = unknown> {
  /** Codec of commands, of their replies, and of the requests of followers. */
  readonly values: ValueCodec
  /** Undefined if the actor has nothing to follow. */
  readonly listeners?: ListenerCodec<Listener>
  /** Undefined if each follower in another member has a follow of its own. */
  readonly sharing?: FollowSharing<Listener, Request>
}

/** A name that members can send questions to: a kind of actor, or a service. */
export interface Asked<Listener = unknown, Request = unknown> {
  readonly name: string
  /** Undefined if only its own member ever asks it. */
  readonly wire?: ActorWire<Listener, Request>
}

/** Turns values into bytes, and back. */
export interface ValueCodec {
  /** The bytes of a value. */
  encode(value: unknown): Uint8Array
  /** The value of these bytes. Throws if they are not of this codec. */
  decode(bytes: Uint8Array): unknown
}

/**
 * lost    the connection to the actor broke; followers may come back
 * lagged  more calls waited to be sent than may wait
 */
export type FollowLoss = 'lost' | 'lagged'

/** Turns the calls of a listener into messages, and back. */
export interface ListenerCodec<Listener = unknown> {
  /** A listener that hands each of its calls to `send`, and says which one is the last. */
  sender(send: (call: Uint8Array, last: boolean) => void): Listener
  /** Makes the call that the bytes stand for. */
  notify(listener: Listener, call: Uint8Array): void
  /** The last call of a listener whose actor could not make it. */
  end(listener: Listener, how: FollowLoss): void
}

/** Lets all followers in one member share what comes from another, so that it is sent once. */
export interface FollowSharing<Listener = unknown, Request = unknown> {
  /** Followers whose requests have the same name may share; undefined for one that does not. */
  nameOf(request: Request): string | undefined
  /** Begins it for its first follower. `onEnd` is called when the actor will send no more. */
  begin(request: Request, onEnd: () => void): SharedFollow<Listener, Request>
}

/** Receives the calls of an actor in another member, for all followers that share it. */
export interface SharedFollow<Listener = unknown, Request = unknown> {
  /** The request with which the shared follow itself was begun. */
  readonly request: Request
  readonly listener: Listener
  /** Undefined if it no longer has what this follower asks for: it has to follow alone. */
  join(request: Request, listener: Listener): Promise<(() => void) | undefined>
}

/** Finds the wire of an actor by its key. */
export function wiresOf(kinds: readonly Asked[]): (key: ActorKey) => ActorWire {
  const wires = new Map(kinds.map(({ name, wire }) => [name, wire]))
  return ({ kind }) => {
    const wire = wires.get(kind)
    assert(wire !== undefined, `commands to actors of kind ${kind} can cross to another member`)
    return wire
  }
}

const undefinedMark = 0
const jsonMark = 1
const textMark = 2

/** Values other than a lone string, as text. */
export interface TextCodec {
  encode(value: unknown): string
  decode(text: string): unknown
}

/** Values as the text of `codec`, a lone string as it is: many values are JSON text already. */
export function valuesAsText(codec: TextCodec): ValueCodec {
  return {
    encode: (value) => {
      if (value === undefined) return Uint8Array.of(undefinedMark)
      if (typeof value === 'string') return marked(textMark, value)
      return marked(jsonMark, codec.encode(value))
    },
    decode: (bytes) => {
      const [mark] = bytes
      if (mark === undefinedMark) return undefined
      const text = textOf(bytes.subarray(1))
      return mark === textMark ? text : codec.decode(text)
    },
  }
}

/** Plain data as JSON. Properties that are undefined are dropped. */
export const plainValues = valuesAsText({ encode: JSON.stringify, decode: JSON.parse })

function marked(mark: number, text: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(text))
  bytes[0] = mark
  bytes.write(text, 1)
  return bytes
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}
