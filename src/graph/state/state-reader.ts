/** A thread's checkpoints for readers of its state, without what would mislead the engine. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver, CheckpointPendingWrite,
  CheckpointTuple } from '@langchain/langgraph-checkpoint'

import { leavesTaskOpen, tasksOnly } from './pending-writes.ts'
import type { HeddleSaver } from './saver.ts'

type Reading = Pick<BaseCheckpointSaver, 'getTuple' | 'list' | 'getDeltaChannelHistory'>

/**
 * states        the values include what finished tasks wrote
 * checkpoints   they do not, and neither what a command wrote: a failed step cannot be added
 */
type Shows = 'states' | 'checkpoints'

/**
 * Reads checkpoints for the engine. It leaves out answers, and interrupts of completed tasks. With
 * these the engine would take a task for done that was resumed and interrupts again, and would show
 * a completed task with its earlier interrupt.
 */
export class StateReader implements Reading {
  readonly #saver: HeddleSaver
  readonly #shows: Shows

  constructor(saver: HeddleSaver, shows: Shows = 'states') {
    this.#saver = saver
    this.#shows = shows
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#saver.getTuple(config)
    if (!tuple) return undefined
    const isNamed = config.configurable?.checkpoint_id !== undefined
    return this.#readable(tuple, isNamed)
  }

  async *list(...query: Parameters<Reading['list']>): AsyncGenerator<CheckpointTuple> {
    for await (const tuple of this.#saver.list(...query)) yield this.#readable(tuple, true)
  }

  getDeltaChannelHistory(
    ...query: Parameters<Reading['getDeltaChannelHistory']>
  ): ReturnType<Reading['getDeltaChannelHistory']> {
    return this.#saver.getDeltaChannelHistory(...query)
  }

  toJSON(): string {
    return '[StateReader]'
  }

  /**
   * The tuple for a reader. The engine applies what tasks wrote only if the checkpoint was not
   * named.
   */
  #readable(tuple: CheckpointTuple, isNamed: boolean): CheckpointTuple {
    const read = readable(tuple)
    if (this.#shows === 'states') return read
    return { ...read, pendingWrites: isNamed
      ? tasksOnly(read.pendingWrites)
      : withoutResults(read.pendingWrites) }
  }
}

/** The ids of the tasks of a checkpoint that are done. */
export function doneTasks(tuple: CheckpointTuple | undefined): ReadonlySet<string> {
  return new Set(
    (tuple?.pendingWrites ?? []).flatMap(([task, channel]) =>
      leavesTaskOpen.has(channel) ? [] : [task]
    ),
  )
}

/** The writes without results, so that no task counts as done. */
export function withoutResults(writes: CheckpointPendingWrite[] = []): CheckpointPendingWrite[] {
  return writes.filter(([, channel]) => leavesTaskOpen.has(channel))
}

function readable(tuple: CheckpointTuple): CheckpointTuple {
  const done = doneTasks(tuple)
  const matters = ([task, channel]: CheckpointPendingWrite) =>
    channel !== '__resume__'
    && !(channel === '__interrupt__' && done.has(task))
  return { ...tuple, pendingWrites: (tuple.pendingWrites ?? []).filter(matters) }
}
