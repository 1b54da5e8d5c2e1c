/** Filter of the events that the engine would emit again when a run is resumed. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { EmittedEvent } from '../../graph/index.ts'

/**
 * Takes records, newest first. In a subgraph the engine repeats what was done since its newest
 * checkpoint: only updates from there on may come again, even if an older one looks the same.
 */
export class ReplayFilter {
  /** By record, newest first. */
  readonly #emitted: EmittedEvent[][] = []
  /** By namespace: how many writes were seen since the last `emitted`, which follows them. */
  readonly #writes = new Map<string, number>()
  /** Namespaces whose newest checkpoint was seen: the engine continues from there. */
  readonly #steps = new Set<string>()

  see(record: RecordOf): void {
    if (record.$case === 'emitted') {
      this.#writes.clear()
      this.#emitted.push(record.value.events
        .filter(({ name }) => !this.#steps.has(updatedIn(name)))
        .map(({ name, json, valuesOf }) => ({ name, json, valuesOf })))
    }
    if (record.$case === 'writes' && record.value.effect === undefined) {
      const { ns } = record.value
      this.#writes.set(ns, (this.#writes.get(ns) ?? 0) + 1)
    }
    if (record.$case === 'checkpoint') this.#step(record.value.ns)
  }

  events(): EmittedEvent[] {
    return this.#emitted.toReversed().flat()
  }

  /**
   * One `emitted` may have events both from before a checkpoint and from after it: its last events
   * then belong to the writes after it. A subgraph without a checkpoint after the root's newest one
   * has ended.
   */
  #step(ns: string): void {
    if (this.#steps.has(ns)) return
    let left = ns === '' ? 0 : this.#writes.get(ns) ?? 0
    const isOld = (space: string) => (ns === '' ? !this.#steps.has(space) : space === ns)
    const beside = this.#emitted.pop()
    if (beside)
      this.#emitted.push(beside.toReversed().filter(({ name }) => {
        const space = updatedIn(name)
        return space === '' || !isOld(space) || left-- > 0
      }).toReversed())
    this.#steps.add(ns)
  }
}

/** The namespace of the subgraph that an `updates` event is from; empty for any other event. */
function updatedIn(name: string): string {
  return name.startsWith('updates|') ? name.slice('updates|'.length) : ''
}
