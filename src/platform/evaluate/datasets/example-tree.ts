/**
 * The examples of one version of a dataset, as a tree of nodes. A node never changes: a change
 * writes the nodes on the way to what it changes anew, and shares all others with the version
 * before. So each version is read as quickly as the newest one, from any place in it.
 *
 * An example keeps its place for ever, also when it is deleted and made again.
 */

import { HeddleError } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'

/** An example in a version. Times are in microseconds. */
export interface ExampleEntry {
  readonly id: Uuid
  readonly createdUs: number
  readonly modifiedUs: number
  /** Name of the row of the example that this version has. */
  readonly row: string
  readonly bytes: number
  readonly splits: readonly string[]
}

/** The top of a version. */
export interface TreeRoot {
  readonly version: string
  /** Places that are taken, also by what was deleted. */
  readonly next: number
  readonly count: number
  /** Levels of nodes above the leaves. */
  readonly depth: number
  /** The version that the top node was written with; null if there is none. */
  readonly top: string | null
}

/** Place of a node in the tree. Its key has the version that wrote it. */
export interface NodePlace {
  readonly version: string
  readonly level: number
  readonly index: number
}

type StoredEntry = readonly [id: Uuid, createdUs: number, modifiedUs: number, row: string,
  bytes: number, splits: readonly string[]]

/** A leaf has examples, others the version and the count of each node below. Null: nothing. */
export type TreeNode = readonly (StoredEntry | readonly [version: string, count: number] | null)[]

/** Reads the node at a place; the place names the version that wrote it. */
export type NodeReader = (place: NodePlace) => Promise<TreeNode>

/** A node that a change made. */
export interface WrittenNode {
  readonly place: NodePlace
  readonly node: TreeNode
}

/** Children of a node. */
const fanOut = 100

/** The version that has nothing. */
export const emptyTree: Omit<TreeRoot, 'version'> = { next: 0, count: 0, depth: 0, top: null }

/** The examples from an offset on, in their order, in groups; backwards if `reverse`. */
export async function* entriesFrom(read: NodeReader, root: TreeRoot, offset: number,
  reverse = false): AsyncGenerator<readonly ExampleEntry[], void, void> {
  let skip = offset
  const inOrder = <Each>(list: readonly Each[]) => reverse ? list.toReversed() : list
  async function* below(place: NodePlace): AsyncGenerator<readonly ExampleEntry[], void, void> {
    const node = await read(place)
    if (place.level === 0) {
      const entries = inOrder(node.flatMap((each) => each === null ? [] : [entryOf(each)]))
      const skipped = Math.min(skip, entries.length)
      skip -= skipped
      if (skipped < entries.length) yield entries.slice(skipped)
      return
    }
    for (const [at, each] of inOrder([...node.entries()])) {
      if (each === null) continue
      const [version, count] = each as readonly [string, number]
      if (skip >= count) skip -= count
      else yield* below(childOf(place, at, version))
    }
  }
  if (root.top !== null && offset < root.count) {
    yield* below({ version: root.top, level: root.depth, index: 0 })
  }
}

/** The example at a place; undefined if it is not in this version. */
export async function entryAt(read: NodeReader, root: TreeRoot,
  place: number): Promise<ExampleEntry | undefined> {
  if (root.top === null || place >= root.next) return undefined
  let at: NodePlace = { version: root.top, level: root.depth, index: 0 }
  for (;;) {
    const node = await read(at)
    const child = node[Math.floor(place / fanOut ** at.level) % fanOut] ?? null
    if (child === null) return undefined
    if (at.level === 0) return entryOf(child)
    at = childOf(at, Math.floor(place / fanOut ** at.level) % fanOut, child[0])
  }
}

/** The next version: its root and its nodes. Null in `edits` removes the example at the place. */
export async function changedTree(read: NodeReader, root: Omit<TreeRoot, 'version'>,
  edits: ReadonlyMap<number, ExampleEntry | null>,
  version: string): Promise<{ readonly root: TreeRoot; readonly nodes: readonly WrittenNode[] }> {
  const nodes: WrittenNode[] = []
  const next = [...edits.keys()].reduce((most, place) => Math.max(most, place + 1), root.next)
  let { depth, top, count } = root
  while (next > fanOut ** (depth + 1)) {
    depth++
    if (top === null) continue
    const place = { version, level: depth, index: 0 }
    nodes.push({ place, node: [[top, count]] })
    top = version
  }
  const fresh = new Map(nodes.map(({ place, node }) => [nodeKey(place), node]))
  const known: NodeReader = async (place) => fresh.get(nodeKey(place)) ?? read(place)
  const changed = await rewritten(known, top, { version, level: depth, index: 0 }, [...edits],
    nodes)
  count = countOf(changed, depth)
  const written = new Map(nodes.map((each) => [nodeKey(each.place), each]))
  return { root: { version, next, count, depth, top: version }, nodes: [...written.values()] }
}

/** Writes a node and those below it that change. */
async function rewritten(read: NodeReader, before: string | null, place: NodePlace,
  edits: readonly (readonly [number, ExampleEntry | null])[],
  nodes: WrittenNode[]): Promise<TreeNode> {
  const known = before === null ? [] : await read({ ...place, version: before })
  const node: (TreeNode[number])[] = [...known]
  const size = fanOut ** place.level
  const slotOf = ([at]: readonly [number, unknown]) => Math.floor(at / size) % fanOut
  for (const [slot, own] of Map.groupBy(edits, slotOf)) {
    while (node.length <= slot) node.push(null)
    if (place.level === 0) {
      const [, entry] = own.at(-1)!
      node[slot] = entry === null ? null : storedEntry(entry)
    } else {
      const child = node[slot] as readonly [string, number] | null
      const below = childOf(place, slot, place.version)
      const changed = await rewritten(read, child?.[0] ?? null, below, own, nodes)
      node[slot] = [place.version, countOf(changed, below.level)]
    }
  }
  nodes.push({ place, node })
  return node
}

function childOf({ level, index }: NodePlace, slot: number, version: string): NodePlace {
  return { version, level: level - 1, index: index * fanOut + slot }
}

function countOf(node: TreeNode, level: number): number {
  return node.reduce((sum, each) => {
    if (each === null) return sum
    return sum + (level === 0 ? 1 : each[1])
  }, 0)
}

function storedEntry(
  { id, createdUs, modifiedUs, row, bytes, splits }: ExampleEntry,
): StoredEntry {
  return [id, createdUs, modifiedUs, row, bytes, splits]
}

function entryOf(stored: NonNullable<TreeNode[number]>): ExampleEntry {
  if (stored.length !== 6) throw new HeddleError('internal')
  const [id, createdUs, modifiedUs, row, bytes, splits] = stored
  return { id, createdUs, modifiedUs, row, bytes, splits }
}

/** The text that names a node among those of its dataset. */
export function nodeKey({ version, level, index }: NodePlace): string {
  return `n/${version}/${level}/${index}`
}
