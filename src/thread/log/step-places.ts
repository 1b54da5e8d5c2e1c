/** The names under which the log finds subgraphs' checkpoints and late writes. */

import type { CheckpointPlace, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { lateWritesOf, newestOf } from '../../checkpoint/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import type { Step } from '../../graph/index.ts'
import type { ThreadState } from '../model/thread-state.ts'

type Checkpoint = Extract<RecordOf, { $case: 'checkpoint' }>['value']
type Writes = Extract<RecordOf, { $case: 'writes' }>['value']

/** Knows what was looked up or written since a run or an edit last ended. */
export class StepPlaces {
  /** By namespace: the newest checkpoint of a subgraph. */
  readonly #nested = new Map<string, CheckpointPlace>()
  /** By checkpoint: where its last late writes begin, those after a newer one of its namespace. */
  readonly #late = new Map<string, CheckpointPlace>()
  /** By name: what was looked up. */
  readonly #found = new Map<string, CheckpointPlace>()

  clear(): void {
    this.#nested.clear()
    this.#late.clear()
    this.#found.clear()
  }

  /**
   * The names that must be looked up before these steps are written: those of the parents of
   * subgraphs' checkpoints, and of earlier late writes on the same checkpoints.
   */
  soughtFor(steps: readonly Step[], row: ThreadRow): string[] {
    const sought = new Set<string>()
    const put = new Set<string>()
    for (const step of steps) {
      if (step.$case === 'writes') {
        const { checkpointId: id } = step.value
        const isKnown = put.has(id) || this.#late.has(id) || this.#isNewest(step.value, row)
        if (!isKnown) sought.add(lateWritesOf(id))
      } else {
        const { ns, id, full, parentId } = step.value
        const isKnown = ns === '' || full || put.has(parentId)
          || this.#nested.get(ns)?.id === parentId
        if (!isKnown) sought.add(parentId)
        put.add(id)
      }
    }
    return [...sought]
  }

  async learn(sought: readonly string[],
    find: (name: string) => Promise<CheckpointPlace | undefined>): Promise<void> {
    for (const name of sought) {
      const place = await find(name)
      if (place) this.#found.set(name, place)
    }
  }

  /** The places of a subgraph's checkpoint in row `seq`. */
  ofCheckpoint({ ns, id, parentId, full }: Checkpoint, seq: number): CheckpointPlace[] {
    const parent = this.#found.get(parentId) ?? this.#nested.get(ns)
    const base = full || !parent ? seq : parent.base
    const place = { id, seq, base }
    this.#nested.set(ns, place)
    return [place, { ...place, id: newestOf(ns) }]
  }

  /**
   * The places of writes in row `seq`: none if a reader finds them by reading on from earlier ones.
   * Otherwise these are found first, and they lead to the earlier ones.
   */
  ofWrites(writes: Writes, row: ThreadRow, seq: number): CheckpointPlace[] {
    const { ns, checkpointId } = writes
    if (this.#isNewest(writes, row)) return []
    const name = lateWritesOf(checkpointId)
    const own = this.#late.get(checkpointId)
    const sinceSeq = Math.max(row.head?.seq ?? 0, this.#nested.get(ns)?.seq ?? 0)
    // Two beginnings in one row would lead to each other, and reading would never end.
    if (own && own.seq > Math.min(sinceSeq, seq - 1)) return []
    const before = own ?? this.#found.get(name)
    const place = { id: name, seq, base: seq }
    this.#late.set(checkpointId, place)
    return before ? [place, { ...before, id: lateWritesOf(checkpointId, seq) }] : [place]
  }

  #isNewest({ ns, checkpointId }: Writes, { head, movedBack }: ThreadRow): boolean {
    const newest = ns === '' ? (movedBack ? undefined : head?.id) : this.#nested.get(ns)?.id
    return newest === checkpointId
  }
}

/** Records that do not rewrite the thread's row: loading catches up with them. */
export function isStep(record: RecordOf): boolean {
  return record.$case === 'checkpoint' || record.$case === 'writes' || record.$case === 'emitted'
}

/** True if searches of threads see the change by a record, such as a used interrupt. */
export function changesIndex(record: RecordOf, before: ThreadState, after: ThreadState): boolean {
  return !isStep(record) || before.row.interruptsJson !== after.row.interruptsJson
}
