/** The nodes that a thread waits at, down to those of subgraphs, and whether they are there. */

import type { StateSnapshot } from '@langchain/langgraph'
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint'

import { HeddleError } from '../../errors.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { nextNodesOf, requireNext } from '../project/missing-nodes.ts'
import type { Fields } from '../project/run-input.ts'
import { subgraphsOf } from '../project/subgraphs.ts'
import type { Subgraph } from '../project/subgraphs.ts'
import type { HeddleSaver } from '../state/saver.ts'
import { doneTasks, StateReader } from '../state/state-reader.ts'
import { memoryNamespace, taskNamespace } from './task-namespace.ts'
import { bindSaver } from './bound-graph.ts'

/** A thread, and the graph that continues it. */
interface Thread {
  readonly graph: ServedGraph
  readonly saver: HeddleSaver
  readonly threadId: string
}

type Task = Pick<StateSnapshot['tasks'][number], 'id' | 'name'>

/** A graph with its newest checkpoint, or the one from which a run goes on. */
interface Begun {
  readonly graph: ServedGraph
  readonly ns: string
  readonly tuple: CheckpointTuple
}

/** A subgraph that a task has begun and not ended. */
interface OpenSubgraph extends Begun {
  /** Of the node that it is in. */
  readonly path: string
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
  for await (const open of openSubgraphs(thread,
    await openTasks(thread, { graph, ns: '', tuple }))) {
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
  const levels = [{ graph: thread.graph, path: '', ns: '', tasks }]
  for (const { graph, path: above, ns, tasks: open } of levels) {
    const inside = open.length > 0 ? await subgraphsOf(graph) : []
    for (const task of open) {
      const path = above === '' ? task.name : `${above}:${task.name}`
      const subgraphs = inside.filter(({ node }) => node === task.name)
      for await (const begun of begunBy(thread, { ns, task, subgraphs })) {
        const inner = { ...begun, path, tasks: await openTasks(thread, begun) }
        levels.push(inner)
        yield inner
      }
    }
  }
}

/** A task, the namespace of its graph, and the graphs inside its node. */
interface Caller {
  readonly ns: string
  readonly task: Task
  readonly subgraphs: readonly Subgraph[]
}

/**
 * Graphs that a task has begun, in order: a function may call several, or one several times. With
 * durability `exit` the ended ones left no checkpoint, so some calls may be missing.
 */
async function* begunBy({ saver, threadId }: Pick<Thread, 'saver' | 'threadId'>,
  { ns: above, task, subgraphs }: Caller): AsyncGenerator<Begun> {
  const isFunction = subgraphs.some(({ isCalled }) => isCalled)
  for (let calls = 0, more = subgraphs.length > 0; more; calls++) {
    let found = false
    for (const ns of namespacesOf(taskNamespace(above, task.name, task.id, calls), subgraphs)) {
      const tuple = await saver.getTuple({
        configurable: { thread_id: threadId, checkpoint_ns: ns },
      })
      if (!tuple) continue
      found = true
      const graph = fitting(subgraphs, tuple)
      if (graph) yield { graph, ns, tuple }
    }
    more = isFunction && (found || calls < subgraphs.length)
  }
}

function namespacesOf(own: string, subgraphs: readonly Subgraph[]): ReadonlySet<string> {
  return new Set(
    subgraphs.map(({ graph }) => graph.checkpointer === true ? memoryNamespace(own) : own),
  )
}

/** The graph that has the nodes that come next. A function may have called one it does not name. */
function fitting(subgraphs: readonly Subgraph[], tuple: CheckpointTuple): ServedGraph | undefined {
  const next = nextNodesOf(heldIn(tuple))
  return subgraphs.find(({ graph: { nodes }, isCalled }) =>
    !isCalled || next.every((name) => Object.hasOwn(nodes, name))
  )?.graph
}

/**
 * The tasks on a checkpoint that are not done. Nothing is applied to its values: the run that
 * follows must find them as they are.
 */
async function openTasks({ saver, threadId }: Pick<Thread, 'saver' | 'threadId'>,
  { graph, ns, tuple }: Begun): Promise<readonly Task[]> {
  const reader = new StateReader(saver, 'checkpoints')
  // With a checkpointer in the config, the engine reads this graph and looks for no other.
  const configurable = { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: tuple.checkpoint.id,
    __pregel_checkpointer: reader }
  const done = doneTasks(tuple)
  try {
    const { tasks } = await bindSaver(graph, reader).getState({ configurable })
    return tasks.filter(({ id, name }) => name !== '__start__' && !done.has(id))
  } catch (error) {
    if (error instanceof HeddleError) throw error
    // A state that the engine cannot read has no known nodes.
    return []
  }
}
