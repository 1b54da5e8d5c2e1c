/** What tasks wrote on a checkpoint, until the next checkpoint includes it. */

import type { CheckpointPendingWrite, PendingWrite } from '@langchain/langgraph-checkpoint'

import type { Write, Writes } from '../../proto/gen/storage/v1/log.ts'
import type { Value } from '../../proto/gen/storage/v1/value.ts'
import type { Decode, Encode } from './value-codec.ts'

/** The engine's special channels have fixed indexes, below zero. */
const specialIndex: ReadonlyMap<string, number> = new Map([
  ['__error__', -1], ['__scheduled__', -2], ['__interrupt__', -3], ['__resume__', -4],
])

/** The engine's task id for a run's own input, such as an answer that names no interrupt. */
const nullTask = '00000000-0000-0000-0000-000000000000'

/** The ids of the interrupts that a task raised; null if it neither raised nor resumed one. */
export function askedIn({ taskId, writes }: Writes): string[] | null {
  const isHeard = ({ channel }: Write) => channel === '__interrupt__' || channel === '__resume__'
  if (taskId === nullTask || !writes.some(isHeard)) return null
  return writes.flatMap(({ channel, value }) => (channel === '__interrupt__' && value
    ? [JSON.parse(value.json || 'null') as { id?: string } | null].flat() : []))
    .flatMap((question) => question?.id ?? [])
}

/** Leaves out an answer that names no interrupt. */
export function withoutAnswer(writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return writes.filter(([task, channel]) => task !== nullTask || channel !== '__resume__')
}

interface KnownWrite {
  readonly taskId: string
  readonly taskPath: string
  readonly channel: string
  live: unknown
  /** The stored value of a live one that came from the graph, which may hold it elsewhere too. */
  shared: Value | undefined
}

/** The task that wrote; engines before 1.5 do not give its path. */
export type Writer = Pick<Writes, 'taskId' | 'taskPath'>

/**
 * The first write at each index of a task stays, so that a task that runs twice has one result; a
 * write on a special channel is replaced.
 */
export class PendingWrites {
  readonly #writes = new Map<string, KnownWrite>()

  /** As read from the log, which may have several writes at one index. */
  static async of(stored: readonly Writes[], decode: Decode): Promise<PendingWrites> {
    const pending = new PendingWrites()
    for (const { taskId, taskPath = '', writes } of stored) {
      for (const { index, channel, value } of writes) {
        if (!value || !pending.#isOpen(taskId, index)) continue
        const live = await decode(value)
        pending.#writes.set(placeOf(taskId, index),
          { taskId, taskPath, channel, live, shared: undefined })
      }
    }
    return pending
  }

  /** Adds what a task wrote and returns the part that has to be stored. */
  add({ taskId, taskPath = '' }: Writer, writes: readonly PendingWrite[], encode: Encode):
    Write[] {
    const added: Write[] = []
    for (const [position, [name, live]] of writes.entries()) {
      const channel = String(name)
      const index = specialIndex.get(channel) ?? position
      if (!this.#isOpen(taskId, index)) continue
      const { value } = encode(live)
      this.#writes.set(placeOf(taskId, index), { taskId, taskPath, channel, live, shared: value })
      added.push({ index, channel, value })
    }
    return added
  }

  /** In the order in which a step applies them: by task, then as they were added. */
  tuples(): CheckpointPendingWrite[] {
    return [...this.#writes.values()]
      .sort((a, b) => compare(a.taskPath, b.taskPath) || compare(a.taskId, b.taskId))
      .map(({ taskId, channel, live }) => [taskId, channel, live])
  }

  /** Replaces values that came from the graph by what decoding gives. */
  async settle(decode: Decode): Promise<void> {
    for (const write of this.#writes.values()) {
      if (write.shared) write.live = await decode(write.shared)
      write.shared = undefined
    }
  }

  #isOpen(taskId: string, index: number): boolean {
    return index < 0 || !this.#writes.has(placeOf(taskId, index))
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function placeOf(taskId: string, index: number): string {
  return `${taskId}\n${index}`
}
