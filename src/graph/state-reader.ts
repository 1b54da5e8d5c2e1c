/** A thread's checkpoints for readers of its state, without what would mislead the engine. */

import type { BaseCheckpointSaver, CheckpointPendingWrite, CheckpointTuple }
  from '@langchain/langgraph-checkpoint'

import type { HeddleSaver } from './saver.ts'

type Reading = Pick<BaseCheckpointSaver, 'getTuple' | 'list' | 'getDeltaChannelHistory'>

/**
 * The engine takes a task for done that was resumed and interrupts again, and shows a completed
 * task with its earlier interrupt. So answers are left out, and interrupts of completed tasks.
 */
export class StateReader implements Reading {
  readonly #saver: HeddleSaver

  constructor(saver: HeddleSaver) { this.#saver = saver }

  async getTuple(...config: Parameters<Reading['getTuple']>): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#saver.getTuple(...config)
    return tuple && readable(tuple)
  }

  async *list(...query: Parameters<Reading['list']>): AsyncGenerator<CheckpointTuple> {
    for await (const tuple of this.#saver.list(...query)) yield readable(tuple)
  }

  getDeltaChannelHistory(...query: Parameters<Reading['getDeltaChannelHistory']>):
    ReturnType<Reading['getDeltaChannelHistory']> {
    return this.#saver.getDeltaChannelHistory(...query)
  }

  toJSON(): string {
    return '[StateReader]'
  }
}

/** Channels that the engine writes for a task that is not done. */
const leavesTaskOpen: ReadonlySet<string> =
  new Set(['__error__', '__interrupt__', '__resume__', '__scheduled__', '__error_source_node__'])

/** The ids of the tasks of a checkpoint that are done. */
export function doneTasks(tuple: CheckpointTuple | undefined): ReadonlySet<string> {
  return new Set((tuple?.pendingWrites ?? []).flatMap(([task, channel]) =>
    leavesTaskOpen.has(channel) ? [] : [task]))
}

function readable(tuple: CheckpointTuple): CheckpointTuple {
  const done = doneTasks(tuple)
  const matters = ([task, channel]: CheckpointPendingWrite) => channel !== '__resume__'
    && !(channel === '__interrupt__' && done.has(task))
  return { ...tuple, pendingWrites: (tuple.pendingWrites ?? []).filter(matters) }
}
