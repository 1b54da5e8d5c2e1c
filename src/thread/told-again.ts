/** Of what a run told, that which comes again where it is resumed. */

import type { RecordOf } from '../checkpoint/index.ts'
import type { ToldEvent } from '../graph/index.ts'

/**
 * Takes records, the newest first. In a subgraph the engine does again what was done since its
 * newest checkpoint; an update from before that is none of those, however much it looks like one.
 */
export class ToldAgain {
  /** The newest first, as the records are. */
  readonly #told: ToldEvent[][] = []
  /** By namespace: the writes behind the oldest events that were seen. */
  readonly #writes = new Map<string, number>()
  /** Subgraphs whose newest checkpoint was seen: they go on from there. */
  readonly #steps = new Set<string>()

  see(record: RecordOf): void {
    if (record.$case === 'told') {
      this.#writes.clear()
      this.#told.push(record.value.events
        .filter(({ name }) => !this.#steps.has(updatedIn(name)))
        .map(({ name, json, valuesOf }) => ({ name, json, valuesOf })))
    }
    if (record.$case === 'writes') {
      const { ns } = record.value
      this.#writes.set(ns, (this.#writes.get(ns) ?? 0) + 1)
    }
    if (record.$case === 'checkpoint') this.#step(record.value.ns)
  }

  events(): ToldEvent[] {
    return this.#told.toReversed().flat()
  }

  /**
   * What led to a checkpoint may be told in one record with what was done on it: then the last
   * events are of those who wrote since. Behind the root's, a subgraph that put none is over.
   */
  #step(ns: string): void {
    if (this.#steps.has(ns)) return
    let left = ns === '' ? 0 : this.#writes.get(ns) ?? 0
    const isOld = (space: string) => (ns === '' ? !this.#steps.has(space) : space === ns)
    const beside = this.#told.pop()
    if (beside) this.#told.push(beside.toReversed().filter(({ name }) => {
      const space = updatedIn(name)
      return space === '' || !isOld(space) || left-- > 0
    }).toReversed())
    this.#steps.add(ns)
  }
}

/** The namespace of the subgraph that an event tells an update of; empty for any other event. */
function updatedIn(name: string): string {
  return name.startsWith('updates|') ? name.slice('updates|'.length) : ''
}
