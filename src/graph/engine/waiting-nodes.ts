/** The nodes that a thread waits at, down to those of subgraphs, and whether they are there. */

import type { StateSnapshot } from '@langchain/langgraph'
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint'

import { HeddleError } from '../../errors.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { requireNext } from '../project/missing-nodes.ts'
import type { Fields } from '../project/run-input.ts'
import { subgraphsOf } from '../project/subgraphs.ts'
import type { HeddleSaver } from '../state/saver.ts'
import { doneTasks, StateReader } from '../state/state-reader.ts'
import { bindSaver } from './bound-graph.ts'

/** A thread, and the graph that continues it. */
interface Thread {
  readonly graph: ServedGraph
  readonly saver: HeddleSaver
  readonly threadId: string
}

type Task = Pick<StateSnapshot['tasks'][number], 'id' | 'name'>

/** A subgraph that a task has begun and not ended. */
interface OpenSubgraph {
  readonly graph: ServedGraph
  /** Of the node that it is in. */
  readonly path: string
  readonly ns: string
  readonly tuple: CheckpointTuple
  /** Its own tasks that are not done. */
  readonly tasks: readonly Task[]
}

/**
 * Paths from the root, such as `research:ask`. `next` are the nodes of the root, and `tasks` those
 * of its tasks that are not done. A graph that a node calls without the engine's knowledge has no
 * path: the node itself is where the thread waits.
 */
export async function waitingPaths(thread: Thread, next: readonly string[],
  tasks: readonly Task[]): Promise<string[]> {
  const paths = new Set(next)
  for await (const open of openSubgraphs(thread, tasks)) {
    if (open.tasks.length > 0) paths.delete(open.path)
    for (const { name } of open.tasks) paths.add(`${open.path}:${name}`)
  }
  return [...paths]
}

/**
 * Throws `missing_node` if a node that comes next does not exist any more. Without an answer, a run
 * that goes back to an earlier checkpoint begins its subgraphs anew: only nodes of the root must be
 * there.
 */
export async function requireNodes(thread: Thread, configurable: Fields,
  answers: boolean): Promise<void> {
  const { graph, saver } = thread
  const tuple = await saver.getTuple({ configurable })
  if (!tuple) return
  requireNext(heldIn(tuple), Object.keys(graph.nodes))
  if ((await subgraphsOf(graph)).length === 0) return
  if (!answers && !await isNewest(thread, configurable)) return
  for await (const open of openSubgraphs(thread, await openTasks(thread, '', tuple))) {
    requireNext(heldIn(open.tuple), Object.keys(open.graph.nodes), open.path)
  }
}

async function isNewest({ saver, threadId }: Thread,
  { checkpoint_id: id }: Fields): Promise<boolean> {
  if (id === undefined) return true
  const newest = await saver.getTuple({ configurable: { thread_id: threadId } })
  return newest?.checkpoint.id === id
}

function heldIn({ checkpoint: { channel_values: values } }: CheckpointTuple) {
  return { names: Object.keys(values), valueOf: (name: string) => values[name] }
}

/** Outer ones come before those inside them. */
async function* openSubgraphs(thread: Thread, tasks: readonly Task[]): AsyncGenerator<
  OpenSubgraph
> {
  const root = { graph: thread.graph, path: '', ns: '', tasks }
  const levels: Omit<OpenSubgraph, 'tuple'>[] = [root]
  for (const { graph, path, ns, tasks: open } of levels) {
    const inside = open.length > 0 ? await subgraphsOf(graph) : []
    for (const task of open) {
      // The engine reads states of a node's first graph only.
      const subgraph = inside.find(({ node }) => node === task.name)?.graph
      const below = subgraph && namespaceOf(ns, task, subgraph)
      const tuple = below && await thread.saver.getTuple({ configurable: {
        thread_id: thread.threadId,
        checkpoint_ns: below,
      } })
      if (!tuple) continue
      const begun = { graph: subgraph, path: path === '' ? task.name : `${path}:${task.name}`,
        ns: below, tuple, tasks: await openTasks(thread, below, tuple) }
      levels.push(begun)
      yield begun
    }
  }
}

/** A subgraph with a memory of its own has the same namespace in every step. */
function namespaceOf(above: string, { name, id }: Task, subgraph: ServedGraph): string {
  const ns = `${above === '' ? '' : `${above}|`}${name}:${id}`
  return subgraph.checkpointer === true
    ? ns.split('|').map((part) => part.split(':')[0]).join('|')
    : ns
}

/**
 * The tasks on a checkpoint that are not done. Nothing is applied to its values: the run that
 * follows must find them as they are.
 */
async function openTasks({ graph, saver, threadId }: Thread, checkpoint_ns: string,
  tuple: CheckpointTuple): Promise<readonly Task[]> {
  const configurable = { thread_id: threadId, checkpoint_ns, checkpoint_id: tuple.checkpoint.id }
  const done = doneTasks(tuple)
  try {
    const { tasks } = await bindSaver(graph, new StateReader(saver, 'checkpoints'))
      .getState({ configurable })
    return tasks.filter(({ id, name }) => name !== '__start__' && !done.has(id))
  } catch (error) {
    if (error instanceof HeddleError) throw error
    // What the engine cannot read has no nodes that are known.
    return []
  }
}
