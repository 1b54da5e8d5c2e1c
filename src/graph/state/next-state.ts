/** The part of a checkpoint that is stored: all channels, or only the changes since its parent. */

import type { ChannelVersions } from '@langchain/langgraph-checkpoint'

import type { ChannelChange } from '../../../proto/gen/storage/v1/value.ts'
import { changesBytes, stepBytes } from '../../checkpoint/index.ts'
import type { ChannelUpdates } from './channel-updates.ts'
import { KnownChannels } from './state-delta.ts'
import type { ChannelValues } from './state-delta.ts'
import type { LiveCheckpoint, ThreadMemory } from './thread-memory.ts'
import type { Encode } from './value-codec.ts'

/** A full checkpoint is due when the changes since the last reach both its size and this. */
const fullEveryBytes = 64 * 1024

/** The channels of a checkpoint that is put now. */
export interface PutState {
  readonly ns: string
  readonly parentId: string
  readonly values: ChannelValues
  readonly newVersions: ChannelVersions
  /** True if code of the graph may have run since the parent. */
  readonly byTasks: boolean
}

/** Changes to store, and sizes to remember. */
export interface NextState extends Pick<LiveCheckpoint, 'channels' | 'deltaBytes' | 'fullBytes'> {
  /** True if the changes state every channel. */
  readonly full: boolean
  readonly changes: ChannelChange[]
}

/**
 * As changes if the parent is the newest known checkpoint and no full one is due. Throws if a value
 * cannot be stored: then the memory forgets the parent, which is read from the log again.
 */
export function nextState({ newest }: ThreadMemory, put: PutState, encode: Encode,
  updates: ChannelUpdates | undefined): NextState {
  const { ns, values } = put
  const parent = newest.get(ns)
  if (parent === undefined || parent.id !== put.parentId || isFullDue(parent)) {
    const channels = new KnownChannels()
    const changes = channels.restate(values, encode)
    return { full: true, changes, channels, deltaBytes: 0, fullBytes: changesBytes(changes) }
  }
  const { channels, fullBytes } = parent
  newest.delete(ns)
  const changes = channels.advance(values, {
    byTasks: put.byTasks,
    isNew: (channel) => Object.hasOwn(put.newVersions, channel),
    updates: (list, base) => updates?.between(list, base),
  }, encode)
  newest.set(ns, parent)
  const deltaBytes = parent.deltaBytes + stepBytes(changes)
  return { full: false, changes, channels, deltaBytes, fullBytes }
}

function isFullDue({ deltaBytes, fullBytes }: LiveCheckpoint): boolean {
  return deltaBytes >= Math.max(fullEveryBytes, fullBytes)
}

/**
 * Of a checkpoint without a parent: what was written, and defaults, which never had a version. The
 * engine leaves a channel out of `newVersions` if an ancestor holds the value.
 */
export function writtenValues(values: ChannelValues, versions: ChannelVersions,
  news: ChannelVersions): ChannelValues {
  return Object.fromEntries(
    Object.entries(values).filter(([channel]) => channel in news || !(channel in versions)),
  )
}
