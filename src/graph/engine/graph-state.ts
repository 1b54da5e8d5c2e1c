/** A thread's state as the engine makes it, also if its last step failed as a whole. */

import type { RunnableConfig } from '@langchain/core/runnables'
import type { StateSnapshot } from '@langchain/langgraph'

import { HeddleError } from '../../errors.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { messageOf, nameOf } from '../project/thrown.ts'
import type { HeddleSaver } from '../state/saver.ts'
import { doneTasks, StateReader, withoutResults } from '../state/state-reader.ts'
import { bindSaver } from './bound-graph.ts'

interface StateRead {
  readonly config: RunnableConfig
  readonly subgraphs?: boolean
}

/**
 * Reads a state. The engine adds what tasks wrote to the values of the checkpoint. If that fails,
 * as it did in the run, or if `look` fails, the state has the values of the checkpoint alone, and
 * its finished tasks have the error.
 */
export async function readState<Answer>(graph: ServedGraph, saver: HeddleSaver, read: StateRead,
  look: (snapshot: StateSnapshot) => Answer | Promise<Answer>): Promise<Answer> {
  const { config, subgraphs = false } = read
  try {
    return await look(await bindSaver(graph, new StateReader(saver))
      .getState(config, { subgraphs }))
  } catch (error) {
    const tuple = await unlessOurs(error, () => saver.getTuple(config))
    // With the id of a checkpoint the engine shows what its tasks wrote and does not apply it.
    const at = { configurable: { ...config.configurable, ...tuple?.config.configurable } }
    const snapshot = await bindSaver(graph, new StateReader(saver, 'checkpoints'))
      .getState(at, { subgraphs })
    const done = doneTasks(tuple)
    return await look({ ...snapshot, tasks: snapshot.tasks.map((task) =>
      task.error == null && done.has(task.id) ? { ...task, error: shown(error) } : task
    ) })
  }
}

/**
 * True if what finished tasks wrote can be added to the newest checkpoint, or must be. A
 * DeltaChannel must: it is made again from all writes of its past, whether its checkpoints had them
 * or not.
 */
export async function addsResults(graph: ServedGraph, saver: HeddleSaver,
  config: RunnableConfig): Promise<boolean> {
  const writes = (await saver.getTuple(config))?.pendingWrites ?? []
  const keepsWrites = Object.values(graph.channels)
    .some(({ lc_graph_name: kind }) => kind === 'DeltaChannel')
  if (keepsWrites || withoutResults(writes).length === writes.length) return true
  try {
    await bindSaver(graph, new StateReader(saver)).getState(config)
    return true
  } catch (error) {
    return unlessOurs(error, async () => false)
  }
}

/**
 * Reads states, newest first. If one cannot be made, all have the values of their checkpoints
 * alone.
 */
export async function readHistory<Answer>(graph: ServedGraph, saver: HeddleSaver,
  query: Parameters<ServedGraph['getStateHistory']>,
  look: (snapshots: StateSnapshot[]) => Promise<Answer>): Promise<Answer> {
  const read = async (reader: StateReader) =>
    await look(await all(bindSaver(graph, reader).getStateHistory(...query)))
  try {
    return await read(new StateReader(saver))
  } catch (error) {
    return unlessOurs(error, () => read(new StateReader(saver, 'checkpoints')))
  }
}

/** Throws our own errors again: those are not the engine's. */
function unlessOurs<T>(error: unknown, otherwise: () => Promise<T>): Promise<T> {
  if (error instanceof HeddleError) throw error
  return otherwise()
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** The error in the form in which the engine keeps errors of tasks. */
function shown(error: unknown): { name: string; message: string } {
  return { name: error instanceof Error ? nameOf(error) : 'Error', message: messageOf(error) }
}
