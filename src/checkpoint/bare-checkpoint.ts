/** Checkpoints without values that a question leaves out: only that they are there, and sizes. */

import type { ChannelChange, Value } from '../../proto/gen/storage/v1/value.ts'
import { changesBytes, writesBytes } from './channel-view.ts'
import type { Checkpoint, RecordOf, Writes } from './row-codec.ts'
import type { StoredTuple } from './tuple.ts'

/** Parts of checkpoints that a question leaves out. */
export interface LeftOut {
  /** Channels whose values are left out. */
  readonly channels: ReadonlySet<string>
  /** Values that tasks wrote are left out, but for those of the engine's own channels. */
  readonly writes: boolean
}

/** Bytes of values by channel. */
export type ChannelSizes = Readonly<Record<string, number>>

/** A checkpoint that may lack values: then it says how long they were. */
export interface SizedCheckpoint extends Checkpoint {
  readonly sizes?: ChannelSizes
}

/** Writes that may lack values: then they say how long these were. */
interface SizedWrites extends Writes {
  readonly sizes?: ChannelSizes
}

/** Stands for a value that is there. */
const leftOutValue = (): Value => ({ json: 'null', form: 0 })

/** Records with what a question leaves out replaced, if it leaves anything out. */
export function bareRecords(records: readonly RecordOf[],
  leftOut: LeftOut | undefined): readonly RecordOf[] {
  return leftOut === undefined ? records : records.map((record) => bareRecord(record, leftOut))
}

function bareRecord(record: RecordOf, { channels, writes }: LeftOut): RecordOf {
  switch (record.$case) {
    case 'checkpoint': {
      const { changes } = record.value
      const bare = changes.map((change) =>
        channels.has(change.channel) ? bareChange(change) : change
      )
      const value: SizedCheckpoint = { ...record.value, changes: bare,
        sizes: sizesOfChanges(changes) }
      return { $case: 'checkpoint', value }
    }
    case 'writes': {
      if (!writes) return record
      const value: SizedWrites = { ...bareWrites(record.value), sizes: sizesOfWrites(record.value) }
      return { $case: 'writes', value }
    }
    default:
      return record
  }
}

function bareChange({ channel, change }: ChannelChange): ChannelChange {
  return change?.$case === 'removed'
    ? { channel, change }
    : { channel, change: { $case: 'set', value: leftOutValue() } }
}

/** The engine's own channels say whether a task is done, asked or failed. */
function bareWrites(task: Writes): Writes {
  const { effect: _, ...known } = task
  return { ...known, writes: task.writes.map((write) =>
    write.channel.startsWith('__')
      ? write
      : { ...write, value: leftOutValue() }
  ) }
}

/** A checkpoint for the engine, without what is left out. */
export function bareTuple(tuple: StoredTuple, { channels, writes }: LeftOut): StoredTuple {
  return {
    ...tuple,
    channels: tuple.channels.map((stored) =>
      channels.has(stored.channel)
        ? { channel: stored.channel, content: { value: leftOutValue() } }
        : stored
    ),
    writes: writes ? tuple.writes.map(bareWrites) : tuple.writes,
  }
}

/** About how many bytes a checkpoint changed, by channel. A full one states all that there is. */
export function changeSizes(checkpoint: SizedCheckpoint): ChannelSizes {
  return checkpoint.sizes ?? sizesOfChanges(checkpoint.changes)
}

/** About how many bytes tasks wrote, by channel. */
export function writeSizes(writes: readonly SizedWrites[]): ChannelSizes {
  const sizes: Record<string, number> = {}
  for (const each of writes) {
    const of = each.sizes ?? sizesOfWrites(each)
    for (const channel in of) sizes[channel] = (sizes[channel] ?? 0) + of[channel]!
  }
  return sizes
}

function sizesOfChanges(changes: readonly ChannelChange[]): ChannelSizes {
  const written = changes.filter(({ change }) => change?.$case !== 'removed')
  return Object.fromEntries(written.map((change) => [change.channel, changesBytes([change])]))
}

function sizesOfWrites({ writes }: Writes): ChannelSizes {
  const sizes: Record<string, number> = {}
  for (const write of writes) {
    sizes[write.channel] = (sizes[write.channel] ?? 0) + writesBytes([write])
  }
  return sizes
}
