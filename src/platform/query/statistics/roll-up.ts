/** Roll-ups: the statistics of an hour of a project, by name, type and place in the trace. */

import type { SpanHead } from '../../spans/span.ts'
import { addHead, emptyTally } from './tally.ts'
import type { KeptTally, Tally } from './tally.ts'

/** Cells of a roll-up, and characters of a name with its type. */
const [cellsMax, namesMax] = [1_000, 300]

/** Key of a cell, which its spans have in common. */
export interface CellKey {
  readonly name: string | null
  readonly type: string | null
  /** True for the roots of traces. */
  readonly root: boolean
}

/** An hour of a project, as it is read. */
export interface KeptRollUp {
  readonly cells: Iterable<CellKey & { readonly tally: KeptTally }>
  /** Spans in no cell: there are too many kinds, or their names are too long. */
  readonly rest: KeptTally
}

/** A roll-up in the making, which grows by `add`. */
export class RollUp implements KeptRollUp {
  readonly rest = emptyTally()
  readonly #cells = new Map<string, CellKey & { readonly tally: Tally }>()

  get cells(): Iterable<CellKey & { readonly tally: Tally }> {
    return this.#cells.values()
  }

  /** Adds a span to its cell. */
  add(head: SpanHead): void {
    addHead(this.#tallyOf({ name: head.name, type: head.type, root: head.root === true }), head)
  }

  #tallyOf(of: CellKey): Tally {
    const key = keyOf(of)
    const cell = this.#cells.get(key)
    if (cell !== undefined) return cell.tally
    if (this.#cells.size === cellsMax || key.length > namesMax) return this.rest
    const tally = emptyTally()
    this.#cells.set(key, { ...of, tally })
    return tally
  }
}

function keyOf({ name, type, root }: CellKey): string {
  // An absent name is not the same as an empty one.
  return `${root ? 'r' : 'c'}${name === null ? '-' : '+'}${name?.length ?? 0}:${name ?? ''}${
    type === null ? '-' : `+${type}`
  }`
}
