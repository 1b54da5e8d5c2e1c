/** How commands, replies and listener calls cross to another member: as bytes. */

import { assert } from '../../src/errors.ts'
import { textWithPlaces, valueOf } from '../../src/raw-json.ts'
import type { RawPlace } from '../../src/raw-json.ts'
import type { ActorKey } from './actor-key.ts'

/** A member of version N reads what one of N+1 wrote, and ignores what it does not know. */
export interface ActorWire {
  /** Of commands, of their replies, and of what a follower asks for. */
  readonly values: ValueCodec
  /** Undefined if the actor has nothing to follow. */
  readonly listeners?: ListenerCodec
  /** Undefined if each follower in another member has a follow of its own. */
  readonly sharing?: FollowSharing
}

/** What a member can be asked: a kind of actor, or a service. */
export interface Asked {
  readonly name: string
  /** Undefined if only its own member ever asks it. */
  readonly wire?: ActorWire
}

export interface ValueCodec {
  encode(value: unknown): Uint8Array
  decode(bytes: Uint8Array): unknown
}

/**
 * lost    the connection to the actor broke; followers may come back
 * lagged  more calls waited to be sent than may wait
 */
export type FollowLoss = 'lost' | 'lagged'

/** Turns the calls of a listener into messages, and back. */
export interface ListenerCodec {
  /** A listener that hands each of its calls to `send`, and says which one is the last. */
  sender(send: (call: Uint8Array, last: boolean) => void): unknown
  /** Makes the call that the bytes stand for. */
  notify(listener: unknown, call: Uint8Array): void
  /** The last call of a listener whose actor could not make it. */
  end(listener: unknown, how: FollowLoss): void
}

/** Lets all followers in one member share what comes from another, so that it is sent once. */
export interface FollowSharing {
  /** Followers whose requests have the same name may share. */
  nameOf(request: unknown): string
  /** For its first follower. `onEnd` is called when the actor will send nothing more. */
  begin(request: unknown, onEnd: () => void): SharedFollow
}

/** Receives the calls of an actor in another member, for all followers that share it. */
export interface SharedFollow {
  /** What it asks for itself. */
  readonly request: unknown
  readonly listener: unknown
  /** Undefined if it no longer has what this follower asks for: it has to follow alone. */
  join(request: unknown, listener: unknown): Promise<(() => void) | undefined>
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

/** Names the places of raw values, in the first member; who does not know it ignores it. */
const rawMember = '{"~raw":'

/** `{"~raw":["<its length>",[…places]],…}` if there are raw values. */
function encodedText(value: unknown): string {
  const { text, places } = textWithPlaces(value)
  if (places.length === 0) return text
  assert(text.startsWith('{'), 'raw values are members of an object')
  const list = JSON.stringify(places)
  return `${rawMember}["${String(list.length).padStart(10, '0')}",${list}],${text.slice(1)}`
}

function decodedText(text: string): unknown {
  if (!text.startsWith(rawMember)) return JSON.parse(text)
  const [begin, afterLength] = [rawMember.length + 2, rawMember.length + 14]
  const length = Number(text.slice(begin, begin + 10))
  const places = JSON.parse(text.slice(afterLength, afterLength + length)) as RawPlace[]
  return valueOf({ text: `{${text.slice(afterLength + length + 2)}`, places })
}

const undefinedMark = 0
const jsonMark = 1
const textMark = 2

/**
 * Plain data as JSON, a lone string as it is: many values are JSON text already. Raw values stay
 * raw. Properties that are undefined are dropped.
 */
export const plainValues: ValueCodec = {
  encode: (value) => {
    if (value === undefined) return Uint8Array.of(undefinedMark)
    if (typeof value === 'string') return marked(textMark, value)
    return marked(jsonMark, encodedText(value))
  },
  decode: (bytes) => {
    const [mark] = bytes
    if (mark === undefinedMark) return undefined
    const text = textOf(bytes.subarray(1))
    return mark === textMark ? text : decodedText(text)
  },
}

function marked(mark: number, text: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(text))
  bytes[0] = mark
  bytes.write(text, 1)
  return bytes
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}
