/** Nodes that come next on a thread and that its graph does not have any more. */

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { hasNode } from '../node-path.ts'
import type { GraphNodes } from '../node-path.ts'

/** The channels of a checkpoint: their names, and the value of one as JSON has it. */
export interface HeldChannels {
  readonly names: readonly string[]
  readonly valueOf: (name: string) => unknown
}

/**
 * Throws `missing_node` if a node that comes next is not among those of its graph: the subgraph in
 * the node `within`, or the root.
 */
export function requireNext(held: HeldChannels, nodes: readonly string[], within = ''): void {
  const missing = nextNodesOf(held).filter((node) => !nodes.includes(node))
  requireNone(missing.map((node) => within === '' ? node : `${within}:${node}`))
}

/** Throws `missing_node` for nodes that a graph does not have, named by their paths. */
export function requirePaths(graph: GraphNodes, paths: readonly string[]): void {
  requireNone(paths.filter((path) => !hasNode(graph, path)))
}

/** The engine would continue without the node, and forget its question. */
function requireNone(missing: readonly string[]): void {
  if (missing.length === 0) return
  const names = missing.map((path) => `"${path}"`).join(', ')
  throw new HeddleError('missing_node', `The thread waits at ${names}, and its graph has no such ` +
    'node any more. Bring the node back, or update the state to continue elsewhere.')
}

const [toNode, join, tasks] = ['branch:to:', 'join:', '__pregel_tasks']

/** The nodes that come next, once each. */
export function nextNodesOf(held: HeldChannels): readonly string[] {
  return [...new Set(nextNodes(held))]
}

/**
 * The nodes that come next, from the names that the engine gives to the channels that trigger
 * nodes.
 */
function nextNodes({ names, valueOf }: HeldChannels): string[] {
  return names.flatMap((name) => {
    if (name.startsWith(toNode)) return [name.slice(toNode.length)]
    if (name.startsWith(join)) return isComplete(name, valueOf(name)) ? [joinedNode(name)] : []
    return name === tasks ? sentTo(valueOf(name)) : []
  })
}

/** True if a join is complete. `join:a+b:c` holds the names of those of a and b that are done. */
function isComplete(name: string, done: unknown): boolean {
  const awaited = name.slice(join.length, name.lastIndexOf(':')).split('+')
  return Array.isArray(done) && awaited.every((node) => done.includes(node))
}

function joinedNode(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

function sentTo(sends: unknown): string[] {
  const nodes = [sends].flat().map((send) => memberOf(send, 'node'))
  return nodes.filter((node) => typeof node === 'string')
}
