/** History read backwards: what rollbacks dropped is left out, checkpoints and writes alike. */

import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'

/**
 * A thread's runs write one after another, so writes belong to the run that the next older start,
 * or the next older checkpoint, names. Until one is met they are kept apart.
 */
export class History {
  readonly #dropped = new Set<string>()
  readonly #writes = new Map<string, Writes[]>()
  #unowned: Writes[] = []

  /** Takes the next older record. Returns it where it is a checkpoint that is history. */
  back(record: RecordOf): Checkpoint | undefined {
    switch (record.$case) {
      case 'headMoved':
        this.#own(false)
        for (const runId of record.value.droppedRunIds) this.#dropped.add(runId)
        return undefined
      case 'runStarted': this.#own(this.#dropped.has(record.value.runId)); return undefined
      case 'runEnded': case 'stateEdited': this.#own(false); return undefined
      case 'writes': this.#unowned.push(record.value); return undefined
      case 'checkpoint': {
        const dropped = record.value.runId !== '' && this.#dropped.has(record.value.runId)
        this.#own(dropped)
        return dropped ? undefined : record.value
      }
      default: return undefined
    }
  }

  /** The writes on a checkpoint that `back` just returned, oldest first. */
  writesOf({ ns, id }: Checkpoint): readonly Writes[] {
    return this.#writes.get(`${ns}\n${id}`)?.toReversed() ?? []
  }

  /** Whose the writes are that were met since the last answer: a dropped run's, or not. */
  #own(dropped: boolean): void {
    for (const writes of dropped ? [] : this.#unowned) {
      const key = `${writes.ns}\n${writes.checkpointId}`
      const known = this.#writes.get(key)
      if (known) known.push(writes)
      else this.#writes.set(key, [writes])
    }
    this.#unowned = []
  }
}
