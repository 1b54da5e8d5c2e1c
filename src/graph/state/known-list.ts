/** A channel's list, element by element: its stored form, and what differs from that. */

import type { Splice, Value } from '../../../proto/gen/storage/v1/value.ts'
import type { JsonText } from '../execution.ts'
import { isScalar, sameStored } from './known-value.ts'
import { looksLike, printOf } from './object-print.ts'
import type { Print } from './object-print.ts'
import { objectsIn } from './objects-in.ts'
import type { Decode, Encode } from './value-codec.ts'

/** Value of a channel that holds a list. */
export type List = readonly unknown[]

/** Last elements of a list that are checked for changes that no update mentions. */
const lookBack = 256
/** Last elements that are checked in depth. */
const deepLookBack = 16
/** Changed places above which they are stored as one change that spans them. */
const splicesMax = 8
/** Objects above which they are looked for in one pass. */
const searchesMax = 4

/** The part between the common start and the common end of two lists. */
interface Difference {
  readonly at: number
  readonly remove: number
  readonly insert: List
}

/** The stored form of one channel that holds a list. */
export class KnownList {
  /** The engine's list. It is returned again while it still has the same elements. */
  #live: List
  /**
   * True if a known reducer or this class made the live list, so that no code keeps it between
   * runs.
   */
  #isMade = false
  /** Our own copy, since a reducer may change the engine's list in place. */
  readonly #elements: unknown[] = []
  readonly #stored: Value[] = []
  /** Prints of the last elements, taken when these were encoded. */
  readonly #prints: (Print | undefined)[] = []
  /** Stored values of elements that came from the graph, which may hold them elsewhere too. */
  readonly #shared = new Set<Value>()
  /** Index before which no element has a shared value. */
  #sharedFrom = Infinity

  constructor(live: List) {
    this.#live = live
  }

  static encoded(live: List, encode: Encode): KnownList {
    const known = new KnownList(live)
    known.#replace({ at: 0, remove: 0, insert: live }, new Map(), encode)
    return known
  }

  static async loaded(stored: readonly Value[], decode: Decode): Promise<KnownList> {
    const known = new KnownList([])
    const elements = await Promise.all(stored.map(decode))
    for (const element of elements) known.#elements.push(element)
    for (const value of stored) known.#stored.push(value)
    known.#print(0)
    return known
  }

  /** The stored elements. */
  get stored(): Value[] {
    return this.#stored.slice()
  }

  /** Its JSON, as the API shows it. */
  text(): JsonText {
    return `[${this.#stored.map(({ json }) => json).join(',')}]`
  }

  get length(): number {
    return this.#elements.length
  }

  /** The list that the engine has, or had last. */
  get last(): List {
    return this.#live
  }

  /** The list for an engine, never our own copy. */
  live(): List {
    if (!isSameList(this.#elements, this.#live)) {
      this.#live = this.#elements.slice()
      this.#isMade = true
    }
    return this.#live
  }

  /**
   * Moves on to `live` and returns what to store. `mentioned` are the updates that made it:
   * elements that they do not contain are unchanged, or are checked. Undefined means that any
   * element may have changed.
   */
  change(live: List, mentioned: List | undefined, looks: boolean, encode: Encode): Splice[] {
    const encoded = new Map<unknown, Value>()
    const difference = mentioned === undefined
      ? this.#compare(live, encoded, encode)
      : this.#identify(live)
    const { at, remove, insert } = difference
    const touched = mentioned !== undefined && looks ? this.#touched() : []
    const kept = mentioned === undefined || mentioned.length + touched.length === 0
      ? []
      : this.#changedInPlace([...this.#placesOf(objectsIn(mentioned)), ...touched], difference,
        encode)
    if (this.#live !== live) this.#isMade = mentioned !== undefined
    this.#live = live
    const splices: Splice[] = []
    if (remove > 0 || insert.length > 0) {
      this.#replace(difference, encoded, encode)
      splices.push(this.#splice(at, remove, insert.length))
    }
    const shift = insert.length - remove
    const places = kept.map((index) => index < at ? index : index + shift)
    for (const index of places) this.#sharedFrom = Math.min(this.#sharedFrom, index)
    for (const [from, to] of runsOf(places)) splices.push(this.#splice(from, to - from, to - from))
    return splices
  }

  /** True if an element was changed in place, as far as that is checked. */
  isTouched(): boolean {
    return this.#touched().length > 0
  }

  /** True if an element has other bytes than the stored ones. */
  differs(encode: Encode): boolean {
    return this.#elements.some((element, index) =>
      !isScalar(element) && !sameStored(this.#stored[index]!, encode(element).value)
    )
  }

  /** Replaces the elements by what the log would give, shared with nothing. */
  async settle(decode: Decode): Promise<void> {
    const isOurs = this.#isMade && !Object.isFrozen(this.#live)
    if (!isOurs) this.#live = []
    const live = this.#live as unknown[]
    for (let i = this.#sharedFrom; i < this.#elements.length; i++) {
      const before = this.#elements[i]
      if (!this.#shared.has(this.#stored[i]!) || isScalar(before)) continue
      this.#elements[i] = await decode(this.#stored[i]!)
      this.#prints[i] = printOf(this.#elements[i])
      if (live[i] === before) live[i] = this.#elements[i]
    }
    this.#shared.clear()
    this.#sharedFrom = Infinity
  }

  /** Finds the difference, where common start and end are the same objects. */
  #identify(live: List): Difference {
    const elements = this.#elements
    const shorter = Math.min(elements.length, live.length)
    let at = 0
    while (at < shorter && Object.is(elements[at], live[at])) at += 1
    if (at === elements.length) return { at, remove: 0, insert: live.slice(at) }
    let end = 0
    const [before, now] = [elements.length - 1, live.length - 1]
    while (end < shorter - at && Object.is(elements[before - end], live[now - end])) end += 1
    return { at, remove: elements.length - at - end, insert: live.slice(at, live.length - end) }
  }

  /** Finds the difference, where common start and end have the same bytes. */
  #compare(live: List, encoded: Map<unknown, Value>, encode: Encode): Difference {
    const elements = this.#elements
    const shorter = Math.min(elements.length, live.length)
    let at = 0
    while (at < shorter && this.#isStill(at, live[at], encoded, encode)) at += 1
    let end = 0
    const [before, now] = [elements.length - 1, live.length - 1]
    while (end < shorter - at
      && this.#isStill(before - end, live[now - end], encoded, encode)) end += 1
    return { at, remove: elements.length - at - end, insert: live.slice(at, live.length - end) }
  }

  /** True if `element` has the bytes that are stored at `index`. It is then the known one. */
  #isStill(index: number, element: unknown, encoded: Map<unknown, Value>, encode: Encode): boolean {
    const isSame = Object.is(this.#elements[index], element)
    if (isScalar(element)) return isSame
    const { value } = encode(element)
    if (!sameStored(this.#stored[index]!, value)) {
      encoded.set(element, value)
      return false
    }
    this.#elements[index] = element
    this.#prints[index] = this.#prints[index] && printOf(element)
    if (!isSame) this.#share(index)
    return true
  }

  /** Encodes again what was changed in place outside of a difference. Returns the places. */
  #changedInPlace(suspects: readonly number[], { at, remove }: Difference,
    encode: Encode): number[] {
    const changed: number[] = []
    for (const index of new Set(suspects)) {
      if (index >= at && index < at + remove) continue
      const { value } = encode(this.#elements[index])
      this.#prints[index] = printOf(this.#elements[index])
      if (sameStored(this.#stored[index]!, value)) continue
      this.#shared.delete(this.#stored[index]!)
      this.#stored[index] = value
      this.#shared.add(value)
      changed.push(index)
    }
    return changed.sort((a, b) => a - b)
  }

  #placesOf(objects: ReadonlySet<object>): number[] {
    const places: number[] = []
    const elements = this.#elements
    if (objects.size > searchesMax) {
      for (let i = 0; i < elements.length; i++) {
        if (objects.has(elements[i] as object)) places.push(i)
      }
    } else for (const object of objects) {
        for (let i = elements.indexOf(object); i >= 0; i = elements.indexOf(object, i + 1)) {
          places.push(i)
        }
      }
    return places
  }

  /** The places of elements that do not look as they did. */
  #touched(): number[] {
    const { length } = this.#elements
    const places: number[] = []
    for (let i = Math.max(0, length - lookBack); i < length; i++) {
      const look = i < length - deepLookBack ? 'own' : 'deep'
      if (!looksLike(this.#elements[i], this.#prints[i], look)) places.push(i)
    }
    return places
  }

  #replace({ at, remove, insert }: Difference, encoded: Map<unknown, Value>, encode: Encode): void {
    const elements = this.#elements.splice(at).slice(remove)
    const removed = this.#stored.splice(at)
    const stored = removed.splice(remove)
    for (const value of removed) this.#shared.delete(value)
    for (const element of insert) {
      this.#stored.push(encoded.get(element) ?? encode(element).value)
      // The same object elsewhere in the list has a stored value of its own.
      encoded.delete(element)
      this.#elements.push(element)
    }
    for (let i = at; i < this.#stored.length; i++) this.#share(i)
    for (const element of elements) this.#elements.push(element)
    for (const value of stored) this.#stored.push(value)
    const prints = this.#prints.splice(at).slice(remove)
    this.#prints.length = at + insert.length
    for (const print of prints) this.#prints.push(print)
    this.#print(at, at + insert.length)
  }

  #share(index: number): void {
    this.#shared.add(this.#stored[index]!)
    this.#sharedFrom = Math.min(this.#sharedFrom, index)
  }

  /** Notes how elements look, and forgets this for elements that are no longer checked. */
  #print(from: number, to = this.#elements.length): void {
    const first = Math.max(0, this.#elements.length - lookBack)
    for (let i = Math.max(from, first); i < to; i++) this.#prints[i] = printOf(this.#elements[i])
    for (let i = Math.max(0, first - (to - from)); i < first; i++) this.#prints[i] = undefined
  }

  #splice(at: number, remove: number, insert: number): Splice {
    return { at, remove, insert: this.#stored.slice(at, at + insert) }
  }
}

function isSameList(a: List, b: List): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

/** From and to of places in a row. If there are many rows, from and to of all together. */
function runsOf(places: readonly number[]): (readonly [number, number])[] {
  const runs: [number, number][] = []
  for (const index of places) {
    const last = runs.at(-1)
    if (last?.[1] === index) last[1] = index + 1
    else runs.push([index, index + 1])
  }
  return runs.length <= splicesMax ? runs : [[places[0]!, places.at(-1)! + 1]]
}
