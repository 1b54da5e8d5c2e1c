/** History read backwards: what rollbacks dropped is left out, checkpoints and writes alike. */

import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'

/** A checkpoint by its names. */
export interface Named {
  readonly ns: string
  readonly id: string
}

/**
 * Which run wrote the next older records.
 *
 * dropped   a run that was rolled back
 * perhaps   the same run, unless the start that was just read is its first
 * kept      any other
 */
type Writer = 'dropped' | 'perhaps' | 'kept'

/**
 * A thread's runs write one after another, so writes belong to the run that the next older start,
 * or the next older checkpoint, names. Until one is read they are kept apart.
 */
export class History {
  readonly #dropped = new Set<string>()
  readonly #writes = new Map<string, Writes[]>()
  #unowned: Writes[] = []
  #writer: Writer = 'kept'

  /** Takes the next older record. Returns its checkpoint if that is part of history. */
  back(record: RecordOf): Checkpoint | undefined {
    switch (record.$case) {
      case 'headMoved':
        this.#own(false)
        for (const runId of record.value.droppedRunIds) this.#dropped.add(runId)
        this.#writer = 'dropped'
        return undefined
      case 'runStarted': this.#met(record.value.runId, 'perhaps'); return undefined
      case 'checkpoint': return this.#met(record.value.runId, 'dropped') ? undefined : record.value
      // Only after `perhaps`: the end of a run that was never started may be anywhere.
      case 'runEnded': {
        const dropped = this.#dropped.has(record.value.runId)
        if (this.#writer === 'perhaps') this.#writer = dropped ? 'dropped' : 'kept'
        return undefined
      }
      case 'stateEdited': this.#writer = 'kept'; return undefined
      case 'writes': this.#unowned.push(record.value); return undefined
      default: return undefined
    }
  }

  /** Call it after the oldest record: decides which run the oldest writes belong to. */
  begin(): void {
    this.#own(this.#writer !== 'kept')
  }

  /** The writes on a checkpoint that was read, oldest first. */
  writesOf({ ns, id }: Named): readonly Writes[] {
    return this.#writes.get(`${ns}\n${id}`)?.toReversed() ?? []
  }

  /** Whether the run was dropped; then `older` is the writer of the next records. */
  #met(runId: string, older: Writer): boolean {
    const dropped = this.#dropped.has(runId)
    this.#own(dropped)
    this.#writer = dropped ? older : 'kept'
    return dropped
  }

  /** Keeps the writes that were read since the last call, unless a dropped run wrote them. */
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

/** The writes on a checkpoint in a part of the log. */
export function writesIn(records: readonly RecordOf[], of: Named): readonly Writes[] {
  const history = new History()
  for (const record of records.toReversed()) history.back(record)
  history.begin()
  return history.writesOf(of)
}
