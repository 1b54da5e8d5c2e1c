/**
 * The names of a graph that a caller may use, and the faults of a command or an update that uses
 * others.
 */

import { HeddleError } from '../../errors.ts'
import { isObject, memberOf } from '../../json/index.ts'
import type { ServedGraph } from './graph-export.ts'
import type { ParsedUpdate, WireCommand } from './run-input.ts'
import { nodeNames } from './subgraphs.ts'

/** The nodes of a graph, and the channels that a caller may write. */
export interface GraphNames {
  readonly nodes: readonly string[]
  readonly channels: readonly string[]
}

/** One wrong name in a request. */
export interface NameFault {
  /** Path in the command or the update, for example `goto`. */
  readonly field: string
  readonly message: string
}

/**
 * The channels that a caller may write. Others steer the engine: writing them could break a thread
 * for good.
 */
export function writableChannels(
  { channels, builder }: Pick<ServedGraph, 'channels' | 'builder'>,
): string[] {
  const own = memberOf(builder, 'channels')
  return Object.keys(isObject(own) ? own : channels).filter((name) =>
    name === root || !name.startsWith('__')
  )
}

/** The names of a graph that is built. */
export function namesOf(graph: ServedGraph): GraphNames {
  return { channels: writableChannels(graph), nodes: nodeNames(graph) }
}

/** The graph that has the checkpoints of a namespace; undefined if there is none. */
export async function graphAt(graph: ServedGraph, ns: unknown): Promise<ServedGraph | undefined> {
  if (typeof ns !== 'string' || ns === '') return graph
  // A namespace is made of nodes with the ids of their tasks, as in the engine.
  const path = ns.split('|').filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0]).join('|')
  for await (const [name, subgraph] of graph.getSubgraphsAsync(path, true)) {
    if (name === path) return subgraph
  }
  return undefined
}

/** The channel of a state that has no named fields. */
const root = '__root__'

/** Interrupts: clients send back the values of a waiting run, with its interrupts among them. */
const shownBeside: ReadonlySet<string> = new Set(['__interrupt__'])

/** Words that an update may name in the place of a node. */
const rolesOfUpdates = ['__start__', '__input__', '__copy__', '__end__']

/** A fault for each part of a command that names something that does not exist. */
export function commandFaults({ goto, update }: WireCommand, names: GraphNames): NameFault[] {
  const targets = goto == null ? [] : [goto].flat()
  const outsiders = targets.flatMap((target) => {
    const node = typeof target === 'string' ? target : target.node
    const word = typeof target === 'string' ? '__end__' : '__start__'
    return node === word || names.nodes.includes(node) ? [] : [node]
  })
  const pairs = update == null ? [] : Array.isArray(update) ? update : Object.entries(update)
  const unknown = pairs.map(([name]) => String(name))
    .filter((name) => !names.channels.includes(name))
  return [
    ...outsiders.length > 0 ? [{ field: 'goto', message: noNode(outsiders, names) }] : [],
    ...unknown.length > 0 ? [{ field: 'update', message: noChannel(unknown, names) }] : [],
  ]
}

/** A fault for each part of an update of the state that names something that does not exist. */
export function updateFaults({ values, command, asNode }: ParsedUpdate,
  names: GraphNames): NameFault[] {
  const isKnown = asNode === null || rolesOfUpdates.includes(asNode)
    || names.nodes.includes(asNode)
  const faults = isKnown ? [] : [{ field: 'as_node', message: noNode([asNode], names) }]
  if (command !== null) return [...faults, ...commandFaults(command, names)]
  if (asNode === '__copy__' && Array.isArray(values)) {
    return values.flatMap((copy: unknown) =>
      Array.isArray(copy)
        ? updateFaults({ values: copy[0], command: null, asNode: textOrNull(copy[1]) }, names)
        : []
    )
  }
  const isNamed = typeof values === 'object' && values !== null && !Array.isArray(values)
  const unknown = !isNamed || names.channels.includes(root) ? [] : Object.keys(values)
    .filter((name) => !names.channels.includes(name) && !shownBeside.has(name))
  if (unknown.length === 0) return faults
  return [...faults, { field: 'values', message: noChannel(unknown, names) }]
}

/** The fault of breakpoints at nodes that do not exist, which would never be reached. */
export function breakpointFault(nodes: '*' | readonly string[] | null | undefined,
  names: GraphNames): string | undefined {
  const unknown = nodes == null || nodes === '*'
    ? []
    : nodes.filter((node) => !names.nodes.includes(node))
  return unknown.length > 0 ? noNode(unknown, names) : undefined
}

/** Throws `invalid` if there is a fault. */
export function requireNoFault(faults: readonly NameFault[]): void {
  if (faults.length === 0) return
  throw new HeddleError('invalid',
    `${faults.map(({ field, message }) => `${field} ${message}`).join('; ')}.`)
}

function noNode(unknown: readonly string[], { nodes }: GraphNames): string {
  return `names no node of the graph: ${listed(unknown)}; there is ${listed(nodes)}`
}

function noChannel(unknown: readonly string[], { channels }: GraphNames): string {
  return `names no channel of the state: ${listed(unknown)}; there is ${listed(channels)}`
}

/** Names that are listed, and characters of each. Bounded, as names may come from a caller. */
const [listedMax, lengthMax] = [20, 100]

function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax).map((name) => name.slice(0, lengthMax))
  return `${shown.join(', ') || 'none'}${names.length > listedMax ? ', …' : ''}`
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value)
}
