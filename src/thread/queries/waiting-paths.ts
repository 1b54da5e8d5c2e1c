/** Nodes at which a thread waits at a checkpoint, down to subgraphs, as its log says. */

import { decodeRow } from '../../checkpoint/index.ts'
import type { ChannelView } from '../../checkpoint/index.ts'
import { interruptedTasks, memoryNamespace, nextNodesOf, taskNamespace } from '../../graph/index.ts'
import type { GraphDescription } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { ThreadLog } from '../log/thread-log.ts'

/** Interrupted tasks of one graph that are looked into. A worker looks into all before it runs. */
const tasksMax = 100

/** A checkpoint of the root, or the newest one of a subgraph. */
interface Level {
  readonly ns: string
  /** Path of the node that the subgraph is in; empty for the root. */
  readonly path: string
  readonly view: ChannelView
  /** Null for the newest. */
  readonly checkpointId: string | null
}

/**
 * Paths from the root of a graph, such as `research:ask`. Only nodes that are graphs themselves
 * are looked into: a function may call graphs that nothing is known of.
 */
export async function waitingPaths(threadLog: ThreadLog, checkpointId: string,
  graph: GraphDescription | undefined): Promise<readonly string[]> {
  await threadLog.loadHead()
  const view = threadLog.recentView(checkpointId) ?? await threadLog.settled.view('', checkpointId)
  return view ? await pathsIn(threadLog, { ns: '', path: '', view, checkpointId }, graph) : []
}

async function pathsIn(threadLog: ThreadLog, level: Level,
  graph: GraphDescription | undefined): Promise<readonly string[]> {
  const { view, path: above } = level
  const names = nextNodesOf({ names: view.names(), valueOf: (name) => JSON.parse(view.json(name)) })
  const paths: string[] = []
  for (const name of names) {
    const path = above === '' ? name : `${above}:${name}`
    const inside: string[] = []
    for (const ns of graph?.subgraphs?.includes(path)
      ? await begunIn(threadLog, level, name)
      : []) {
      const begun = await threadLog.settled.checkpoint(ns, null)
      if (!begun) continue
      const below = { ns, path, view: begun.view, checkpointId: null }
      inside.push(...await pathsIn(threadLog, below, graph))
    }
    paths.push(...inside.length > 0 ? new Set(inside) : [path])
  }
  return paths
}

/**
 * The namespaces that the subgraph in a node may have: one for each task that is interrupted, or
 * one for all as its memory.
 */
async function begunIn(threadLog: ThreadLog, { ns, checkpointId }: Level, name: string): Promise<
  readonly string[]
> {
  await threadLog.durable
  const found = await threadLog.settled.checkpoint(ns, checkpointId,
    (id) => threadLog.recentView(id))
  const tasks = [...interruptedTasks(found?.writes ?? [])].slice(0, tasksMax)
    .map((task) => taskNamespace(ns, name, task))
  return [...new Set([...tasks, ...tasks.map(memoryNamespace)])]
}

/**
 * The nodes of the root graph that come next. None if that is not known: the run is within a
 * superstep, as when it has stopped in a subgraph.
 */
export async function nodesBetweenSteps(context: ThreadContext): Promise<readonly string[]> {
  const { threadLog } = context
  await threadLog.durable
  const { head } = threadLog.state.row
  if (!head || !await isLastStep(context, head.id)) return []
  // Without a graph, its subgraphs are not read, because none of them has started.
  return await waitingPaths(threadLog, head.id, undefined)
}

/** True if neither a subgraph nor a task has written since the checkpoint. */
async function isLastStep({ ports: { log }, threadLog }: ThreadContext,
  checkpointId: string): Promise<boolean> {
  const { stepSeq: seq, branch } = threadLog.state.row
  const [entry] = await log.read(branch!, { from: seq, through: seq })
  const last = entry && decodeRow(entry.body)
    .findLast(({ $case }) => $case === 'checkpoint' || $case === 'writes')
  return last?.$case === 'checkpoint' && last.value.id === checkpointId
}
