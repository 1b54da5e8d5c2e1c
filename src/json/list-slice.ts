/** Parts of lists that requests ask for: `messages[-50:]`, as Python writes them. */

/** A part of a list. A negative place counts from the end; null is the start or the end. */
export interface ListSlice {
  readonly from: number | null
  readonly to: number | null
}

/** The name of a list, and the part of it that is asked for. */
export interface NamedSlice {
  readonly name: string
  readonly slice: ListSlice
}

/** Start of a part in its list, and the length of that list. */
export interface SlicePlace {
  readonly from: number
  readonly total: number
}

/** Lists have fewer elements than these digits can say. */
const form = /^(?<name>.+)\[(?<from>-?\d{1,10})?:(?<to>-?\d{1,10})?\]$/s

/** The part that a text names; undefined if it names none. */
export function sliceIn(text: string): NamedSlice | undefined {
  const { name, from, to } = form.exec(text)?.groups ?? {}
  if (name === undefined) return undefined
  return { name, slice: { from: placeIn(from), to: placeIn(to) } }
}

/** Bounds of the part in a list of `total` elements: `0 ≤ from ≤ to ≤ total`. */
export function boundsOf({ from, to }: ListSlice, total: number): { from: number; to: number } {
  const begin = boundOf(from ?? 0, total)
  return { from: begin, to: Math.max(begin, boundOf(to ?? total, total)) }
}

function placeIn(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

function boundOf(place: number, total: number): number {
  return Math.min(total, Math.max(0, place < 0 ? place + total : place))
}
