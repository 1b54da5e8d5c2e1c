/** History read backwards, without the checkpoints and writes that rollbacks dropped. */

import { taskBytes } from './record-bytes.ts'
import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'

/** Name of a checkpoint: its namespace and its id. */
export interface Named {
  readonly ns: string
  readonly id: string
}

/**
 * Run that wrote the next older records.
 *
 * dropped   a run that was rolled back
 * perhaps   the same run, unless the start that was just read is its first
 * kept      any other run
 */
type Writer = 'dropped' | 'perhaps' | 'kept'

/**
 * Reads records from the newest to the oldest. A thread's runs write one after another, so writes
 * belong to the run that the next older start, or the next older checkpoint, names. Until one is
 * read they are kept apart.
 */
export class History {
  readonly #dropped = new Set<string>()
  readonly #writes = new Map<string, Writes[]>()
  /** Checkpoints whose writes are not wanted, by their names. */
  readonly #forgotten = new Set<string>()
  #unowned: Writes[] = []
  /** Bytes of writes that are kept, and the part of them that was reported. */
  #bytes = 0
  #toldBytes = 0
  #writer: Writer = 'kept'

  /** Takes the next older record. Returns its checkpoint if that is part of history. */
  back(record: RecordOf): Checkpoint | undefined {
    switch (record.$case) {
      case 'headMoved':
        this.#own(false)
        for (const runId of record.value.droppedRunIds) this.#dropped.add(runId)
        this.#writer = 'dropped'
        return undefined
      case 'runStarted':
        this.#met(record.value.runId, 'perhaps')
        return undefined
      case 'checkpoint':
        return this.#met(record.value.runId, 'dropped') ? undefined : record.value
      // Only after `perhaps`: the end of a run that was never started may be anywhere.
      case 'runEnded': {
        const dropped = this.#dropped.has(record.value.runId)
        if (this.#writer === 'perhaps') this.#writer = dropped ? 'dropped' : 'kept'
        return undefined
      }
      case 'stateEdited':
        this.#writer = 'kept'
        return undefined
      case 'writes':
        this.#unowned.push(record.value)
        this.#bytes += taskBytes(record.value)
        return undefined
      default:
        return undefined
    }
  }

  /** Decides which run the oldest writes belong to. Call after the oldest record. */
  begin(): void {
    this.#own(this.#writer !== 'kept')
  }

  /** Drops the writes on a checkpoint: those that were read, and those that will be. */
  forget(checkpoint: Named): void {
    const key = keyOf(checkpoint)
    this.#forgotten.add(key)
    for (const each of this.#writes.get(key) ?? []) this.#bytes -= taskBytes(each)
    this.#writes.delete(key)
  }

  /** Bytes of writes that it keeps, beyond those it returned before. */
  newlyKept(): number {
    const more = this.#bytes - this.#toldBytes
    this.#toldBytes = this.#bytes
    return more
  }

  /** The writes on a checkpoint that was read, oldest first. */
  writesOf(checkpoint: Named): readonly Writes[] {
    return this.#writes.get(keyOf(checkpoint))?.toReversed() ?? []
  }

  /** True if the run was dropped; then `older` is the writer of the next records. */
  #met(runId: string, older: Writer): boolean {
    const dropped = this.#dropped.has(runId)
    this.#own(dropped)
    this.#writer = dropped ? older : 'kept'
    return dropped
  }

  /**
   * Keeps the writes that were read since the last call. If a dropped run wrote them, only notes on
   * effects stay, marked as removed: a rollback does not undo what happened outside.
   */
  #own(dropped: boolean): void {
    for (const writes of this.#unowned) {
      const key = keyOf({ ns: writes.ns, id: writes.checkpointId })
      const kept = dropped ? asRemoved(writes) : writes
      if (kept === undefined || this.#forgotten.has(key)) {
        this.#bytes -= taskBytes(writes)
        continue
      }
      const known = this.#writes.get(key)
      if (known) known.push(kept)
      else this.#writes.set(key, [kept])
    }
    this.#unowned = []
  }
}

/** The writes of a dropped run that stay; undefined if they are not about an effect. */
function asRemoved({ effect, ...writes }: Writes): Writes | undefined {
  return effect && { ...writes, effect: { ...effect, removed: true } }
}

function keyOf({ ns, id }: Named): string {
  return `${ns}\n${id}`
}

/** The writes on a checkpoint in a part of the log. */
export function writesIn(records: readonly RecordOf[], of: Named): readonly Writes[] {
  const history = new History()
  for (const record of records.toReversed()) history.back(record)
  history.begin()
  return history.writesOf(of)
}
