/** The newest checkpoints of threads as live values, so that the next run need not read them. */

import type { CheckpointMetadata, ReadonlyCheckpoint } from '@langchain/langgraph-checkpoint'

import { LRUCache } from '../../../cluster/index.ts'
import type { StoredTuple } from '../execution.ts'
import { PendingWrites } from './pending-writes.ts'
import { KnownChannels } from './state-delta.ts'
import type { Decode, Encode } from './value-codec.ts'

/** The engine's checkpoint without its id and its channel values. */
export type Skeleton = Pick<ReadonlyCheckpoint, 'v' | 'ts' | 'channel_versions' | 'versions_seen'>

/** A checkpoint with its state and its pending writes. */
export interface LiveCheckpoint {
  readonly id: string
  /** Id of the parent; empty for none. */
  readonly parentId: string
  readonly skeleton: Skeleton
  readonly metadata: CheckpointMetadata
  readonly channels: KnownChannels
  readonly writes: PendingWrites
  /** Bytes of changes since the last full checkpoint, and the bytes of that one. */
  readonly deltaBytes: number
  readonly fullBytes: number
}

/** A checkpoint as read from the log. */
export async function liveCheckpoint(stored: StoredTuple, decode: Decode): Promise<LiveCheckpoint> {
  const { id, parentId, deltaBytes, fullBytes } = stored
  const [channels, writes] = await Promise.all([
    KnownChannels.of(stored.channels, decode),
    PendingWrites.of(stored.writes, decode),
  ])
  const skeleton = JSON.parse(stored.skeleton) as Skeleton
  const metadata = JSON.parse(stored.metadata) as CheckpointMetadata
  return { id, parentId, skeleton, metadata, channels, writes, deltaBytes, fullBytes }
}

/** Memory of an execution's thread: the newest checkpoint of each namespace that it touched. */
export interface ThreadMemory {
  readonly newest: Map<string, LiveCheckpoint>
  /** True if the thread has no checkpoint at all, so that the log need not be read. */
  empty: boolean
}

/** Turns the memory into what the log would give. Values then share no object with one another. */
export async function settle({ newest }: ThreadMemory, decode: Decode): Promise<void> {
  for (const { channels, writes } of newest.values()) {
    await channels.settle(decode)
    await writes.settle(decode)
  }
}

/**
 * True if a value was changed in place since it was stored. Checked within bounds if every task is
 * done. Checked everywhere if one is left, because that task will do the same to it again.
 */
export function isTouched({ newest }: ThreadMemory, isWaiting: boolean, encode: Encode): boolean {
  const channels = newest.get('')?.channels
  return channels !== undefined && (isWaiting ? channels.differs(encode) : channels.touched())
}

/** Bounds on what a worker remembers, in threads and in bytes. */
export interface MemoryLimits {
  readonly threads: number
  readonly bytes: number
}

/** A live value with its text takes about this many times the bytes of the text. */
const liveFactor = 4
const threadBytes = 4096

/**
 * Threads that a worker remembers, within bounds. An execution takes a thread's memory and returns
 * it only after success. So no other execution sees what a failed one left in shared objects.
 */
export class ThreadMemories {
  /** By thread. A root that is larger than all may be is not kept. */
  readonly #kept: LRUCache<string, KeptRoot>

  constructor({ threads, bytes }: MemoryLimits) {
    this.#kept = new LRUCache({ max: threads, maxSize: bytes, sizeCalculation: weightOf })
  }

  /**
   * Removes and returns the memory. It is empty if the thread's head is not `headId`, or if another
   * execution wrote the newest steps: its resume values and effect notes do not change the head.
   */
  take(thread: string, headId: string | null, lastExecution?: number | null): ThreadMemory {
    const kept = this.#kept.get(thread)
    this.forget(thread)
    const newest = new Map<string, LiveCheckpoint>()
    const isNewest = lastExecution === undefined || kept?.execution === lastExecution
    if (kept && kept.root.id === headId && isNewest) newest.set('', kept.root)
    return { newest, empty: headId === null }
  }

  /**
   * Keeps the root that an execution left, without its subgraphs: their checkpoints may change
   * while the head stays.
   */
  keep(thread: string, memory: ThreadMemory, execution?: number): void {
    const root = memory.newest.get('')
    if (root) this.#kept.set(thread, { root, execution })
    else this.forget(thread)
  }

  forget(thread: string): void {
    this.#kept.delete(thread)
  }
}

/** The newest checkpoint of a thread, and the execution that left it so. */
interface KeptRoot {
  readonly root: LiveCheckpoint
  readonly execution: number | undefined
}

function weightOf({ root: { deltaBytes, fullBytes } }: KeptRoot): number {
  return threadBytes + liveFactor * (deltaBytes + fullBytes)
}
