/** Under which names the log finds what steps add, beside the checkpoints of the root. */

import type { CheckpointPlace, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { lateWritesOf, newestOf } from '../checkpoint/index.ts'
import type { Step } from '../graph/index.ts'

/**
 * A place that is not known.
 *
 * parent  of a checkpoint below the root that others grow from
 * late    of the last writes that came to a checkpoint which was not the newest
 */
export interface Sought {
  readonly kind: 'parent' | 'late'
  readonly ns: string
  readonly id: string
}

type Checkpoint = Extract<RecordOf, { $case: 'checkpoint' }>['value']
type Writes = Extract<RecordOf, { $case: 'writes' }>['value']

/** Knows what was looked up or written since the thread was last at rest. */
export class StepPlaces {
  /** The newest checkpoints of subgraphs. */
  readonly #nested = new Map<string, CheckpointPlace>()
  /** Where writes last came to checkpoints that were not the newest of their namespaces. */
  readonly #late = new Map<string, CheckpointPlace>()

  clear(): void {
    this.#nested.clear()
    this.#late.clear()
  }

  /** What these steps cannot be written without. */
  soughtFor(steps: readonly Step[], row: ThreadRow): Sought[] {
    const sought = new Map<string, Sought>()
    const put = new Set<string>()
    for (const step of steps) {
      const { ns } = step.value
      if (step.$case === 'writes') {
        const { checkpointId: id } = step.value
        const isKnown = put.has(id) || this.#late.has(id) || this.#isNewest(step.value, row)
        if (!isKnown) sought.set(`late ${id}`, { kind: 'late', ns, id })
      } else {
        const { id, full, parentId } = step.value
        const isKnown = ns === '' || full || put.has(parentId)
          || this.#nested.get(ns)?.id === parentId
        if (!isKnown) sought.set(`parent ${parentId}`, { kind: 'parent', ns, id: parentId })
        put.add(id)
      }
    }
    return [...sought.values()]
  }

  async learn(sought: readonly Sought[],
    find: (name: string) => Promise<CheckpointPlace | undefined>): Promise<void> {
    for (const { kind, ns, id } of sought) {
      const place = await find(kind === 'late' ? lateWritesOf(id) : id)
      if (place && kind === 'late') this.#late.set(id, place)
      if (place && kind === 'parent') this.#nested.set(ns, { ...place, id })
    }
  }

  /** Of a checkpoint below the root, in row `seq`. */
  ofCheckpoint({ ns, id, full }: Checkpoint, seq: number): CheckpointPlace[] {
    const parent = this.#nested.get(ns)
    const base = full || !parent ? seq : parent.base
    const place = { id, seq, base }
    this.#nested.set(ns, place)
    return [place, { ...place, id: newestOf(ns) }]
  }

  /**
   * Of writes in row `seq`: none where those before are followed by them, up to the next checkpoint
   * that is history. Otherwise those before are found by way of these.
   */
  ofWrites(writes: Writes, row: ThreadRow, seq: number): CheckpointPlace[] {
    const { ns, checkpointId } = writes
    if (this.#isNewest(writes, row)) return []
    const before = this.#late.get(checkpointId)
    const sinceSeq = Math.max(row.head?.seq ?? 0, this.#nested.get(ns)?.seq ?? 0)
    if (before && before.seq > sinceSeq) return []
    const place = { id: lateWritesOf(checkpointId), seq, base: seq }
    this.#late.set(checkpointId, place)
    return before ? [place, { ...before, id: lateWritesOf(checkpointId, seq) }] : [place]
  }

  #isNewest({ ns, checkpointId }: Writes, { head, movedBack }: ThreadRow): boolean {
    const newest = ns === '' ? (movedBack ? undefined : head?.id) : this.#nested.get(ns)?.id
    return newest === checkpointId
  }
}
