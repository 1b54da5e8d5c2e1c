/** The checkpoints of one namespace between a full one and a later one, and the state at each. */

import type { ChannelChange } from '../../proto/gen/storage/v1/value.ts'
import { HeddleError } from '../errors.ts'
import { changesBytes, ChannelView, stepBytes } from './channel-view.ts'
import { recordBytes } from './record-bytes.ts'
import type { Checkpoint, RecordOf } from './row-codec.ts'

/** The state at a checkpoint, and the sizes that decide when to store one in full. */
export interface LineState {
  readonly view: ChannelView
  readonly deltaBytes: number
  readonly fullBytes: number
}

/** The state after a checkpoint, from that of its parent. */
export function step(before: LineState | undefined, checkpoint: Checkpoint): LineState {
  const { changes, full } = checkpoint
  return {
    view: (before?.view ?? ChannelView.empty).apply(changes, full),
    deltaBytes: full ? 0 : (before?.deltaBytes ?? 0) + stepBytes(changes),
    fullBytes: full ? changesBytes(changes) : before?.fullBytes ?? 0,
  }
}

/** Gathers checkpoints of one namespace, oldest first, for the reader. */
export class CheckpointLine {
  readonly #checkpoints = new Map<string, Checkpoint>()
  readonly #ns: string
  readonly #isFrugal: boolean
  /** Checkpoints with a change of the channel that the newest one still needs. */
  #holders = new Map<string, Checkpoint[]>()
  newestId = ''
  /** Bytes that it keeps. */
  bytes = 0
  /** True if a later checkpoint may need what was dropped. */
  lacksPart = false

  /** A frugal one drops what later checkpoints replace. Only the newest state is whole then. */
  constructor(ns: string, isFrugal = false) {
    this.#ns = ns
    this.#isFrugal = isFrugal
  }

  add(records: readonly RecordOf[]): void {
    for (const record of records) {
      if (record.$case !== 'checkpoint' || record.value.ns !== this.#ns) continue
      const checkpoint = record.value
      if (this.#isFrugal) this.#dropReplaced(checkpoint)
      this.#checkpoints.set(checkpoint.id, checkpoint)
      this.newestId = checkpoint.id
      this.bytes += recordBytes(record)
    }
  }

  get(id: string): Checkpoint | undefined {
    if (this.#isFrugal && id !== this.newestId) this.lacksPart = true
    return this.#checkpoints.get(id)
  }

  /** The state at a checkpoint: its nearest full ancestor, then every change down to it. */
  state(checkpoint: Checkpoint): LineState {
    const line: Checkpoint[] = []
    let at: Checkpoint | undefined = checkpoint
    while (at) {
      // An id that was used twice may lead back to itself.
      if (line.length > this.#checkpoints.size) throw endless()
      line.push(at)
      at = at.full ? undefined : this.#checkpoints.get(at.parentId)
    }
    return line.reduceRight<LineState | undefined>(step, undefined)!
  }

  #dropReplaced(checkpoint: Checkpoint): void {
    const { full, parentId, changes } = checkpoint
    if (!full && parentId !== this.newestId) this.lacksPart = true
    if (full) {
      for (const channel of this.#holders.keys()) this.#drop(channel)
    }
    for (const change of changes) {
      const { channel } = change
      if (replaces(change)) this.#drop(channel)
      const holders = this.#holders.get(channel)
      if (holders) holders.push(checkpoint)
      else this.#holders.set(channel, [checkpoint])
    }
  }

  #drop(channel: string): void {
    for (const holder of this.#holders.get(channel) ?? []) {
      const dropped = holder.changes.filter((change) => change.channel === channel)
      const kept = holder.changes.filter((change) => change.channel !== channel)
      holder.changes = kept
      this.bytes -= changesBytes(dropped)
    }
    this.#holders.delete(channel)
  }
}

/** True if nothing is left of the channel's value before. */
function replaces({ change }: ChannelChange): boolean {
  return change?.$case !== 'splice'
}

function endless(): HeddleError {
  return new HeddleError('graph_failed', 'Checkpoints of this thread name each other as parents: ' +
    'its state cannot be read.')
}
