/** The spans of a trace as a tree, and the rows of it that are shown. Pure. */

import type { SpanHead } from '../../api/platform/traces.ts'
import { isLookedFor, looksFor } from './span-look.ts'
import type { SpanLook } from './span-look.ts'
import { microseconds } from './time-axis.ts'
import type { TimeRange } from './time-axis.ts'

/** A span in its place. */
export interface SpanNode extends TimeRange {
  readonly span: SpanHead
  readonly parent: SpanNode | undefined
  readonly children: readonly SpanNode[]
  readonly depth: number
  /** Spans below it. */
  readonly below: number
  /** One of the spans below it failed. */
  readonly holdsError: boolean
}

/** A trace, ready to be drawn. */
export interface SpanTree {
  readonly roots: readonly SpanNode[]
  readonly byId: ReadonlyMap<string, SpanNode>
  readonly whole: TimeRange
  /** When it began, in microseconds since 1970. */
  readonly beganUs: number
  readonly isPending: boolean
  /** Tokens of all calls of models. */
  readonly tokens: number
}

/** A row of the waterfall. */
export interface SpanRow {
  readonly node: SpanNode
  readonly isOpen: boolean
  /** Its place among the spans of the same parent, from 1. */
  readonly place: number
  readonly siblings: number
  /** It is what is looked for. */
  readonly isMatch: boolean
}

interface Growing extends SpanNode {
  parent: Growing | undefined
  children: Growing[]
  depth: number
  below: number
  holdsError: boolean
}

/**
 * The tree. A span whose parent is unknown stands below the nearest known span around it, else as
 * a root. `nowMs` is where spans end that have not ended.
 */
export function treeOf(spans: readonly SpanHead[], nowMs: number): SpanTree {
  const starts = spans.flatMap(({ start_time: start }) => microseconds(start) ?? [])
  const beganUs = starts.reduce((least, us) => Math.min(least, us), Infinity)
  const base = Number.isFinite(beganUs) ? beganUs : nowMs * 1_000
  const byId = new Map<string, Growing>()
  for (const span of spans) byId.set(span.id, growing(span, base, nowMs))
  const roots: Growing[] = []
  for (const node of byId.values()) {
    const parentId = node.span.parent_run_ids.findLast((id) => id !== node.span.id && byId.has(id))
    const parent = parentId === undefined ? undefined : byId.get(parentId)
    if (parent === undefined || leadsTo(parent, node)) roots.push(node)
    else {
      node.parent = parent
      parent.children.push(node)
    }
  }
  for (const node of byId.values()) node.children.sort(inTime)
  roots.sort(inTime)
  count(roots)
  const to = [...byId.values()].reduce((most, node) => Math.max(most, node.to), 1)
  const tokens = spans.reduce(
    (sum, { run_type: type, total_tokens: own }) => sum + (type === 'LLM' ? own ?? 0 : 0),
    0,
  )
  return { roots, byId, whole: { from: 0, to }, beganUs: base, tokens,
    isPending: roots.some(({ span }) => span.status === 'PENDING') }
}

/** The rows of a tree without what is folded. What is looked for opens the way to it. */
export function rowsOf({ roots }: Pick<SpanTree, 'roots'>, folded: ReadonlySet<string>,
  look: SpanLook = {}): readonly SpanRow[] {
  const found = looksFor(look) ? matches(roots, look) : undefined
  const rows: SpanRow[] = []
  const stack: { readonly nodes: readonly SpanNode[]; at: number }[] = [{ nodes: roots, at: 0 }]
  while (stack.length > 0) {
    const level = stack.at(-1)!
    const node = level.nodes[level.at++]
    if (node === undefined) {
      stack.pop()
      continue
    }
    const isOnWay = found?.way.has(node) ?? true
    const isMatch = found?.hits.has(node) ?? false
    if (!isOnWay) continue
    const isOpen = node.children.length > 0 &&
      (found === undefined ? !folded.has(node.span.id) : hasMatchBelow(node, found.way))
    rows.push({ node, isOpen, isMatch, place: level.at, siblings: level.nodes.length })
    if (isOpen) stack.push({ nodes: node.children, at: 0 })
  }
  return rows
}

/** Ids of spans to fold so that a long trace begins with rows that can be looked over. */
export function foldedAtFirst({ roots, byId }: SpanTree, rowsMax: number): ReadonlySet<string> {
  const folded = new Set<string>()
  if (byId.size <= rowsMax) return folded
  let level: readonly SpanNode[] = roots
  let rows = level.length
  while (level.length > 0) {
    const children = level.flatMap((node) => node.children)
    rows += children.length
    if (rows > rowsMax) break
    level = children
  }
  const stack = [...level]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.children.length > 0) folded.add(node.span.id)
    for (const child of node.children) stack.push(child)
  }
  return folded
}

/** Pixels that a level is indented by: deep rows keep room for a name, also in narrow panes. */
export function indentOf(depthMax: number, widthPx: number): number {
  return Math.max(3, Math.min(14, Math.floor((widthPx - 120) / Math.max(1, depthMax))))
}

function growing(span: SpanHead, beganUs: number, nowMs: number): Growing {
  const from = (microseconds(span.start_time) ?? beganUs) - beganUs
  const end = microseconds(span.end_time)
  const to = end === null ? nowMs * 1_000 - beganUs : end - beganUs
  return { span, from, to: Math.max(from, to), parent: undefined, children: [], depth: 0, below: 0,
    holdsError: false }
}

/** True if `goal` is `from` or above it. A sender of spans may have made a circle of them. */
function leadsTo(from: Growing, goal: Growing): boolean {
  for (let node: Growing | undefined = from; node !== undefined; node = node.parent) {
    if (node === goal) return true
  }
  return false
}

/** Sets depths from above, and sums from below. */
function count(roots: readonly Growing[]): void {
  const all: Growing[] = [...roots]
  for (let at = 0; at < all.length; at++) {
    const node = all[at]!
    for (const child of node.children) {
      child.depth = node.depth + 1
      all.push(child)
    }
  }
  for (const node of all.toReversed()) {
    if (node.parent === undefined) continue
    node.parent.below += node.below + 1
    node.parent.holdsError ||= node.holdsError || node.span.status === 'ERROR'
  }
}

function inTime(a: SpanNode, b: SpanNode): number {
  return a.from - b.from
}

interface Found {
  readonly hits: ReadonlySet<SpanNode>
  /** The hits, and all spans around them. */
  readonly way: ReadonlySet<SpanNode>
}

function matches(roots: readonly SpanNode[], look: SpanLook): Found {
  const hits = new Set<SpanNode>()
  const way = new Set<SpanNode>()
  const stack = [...roots]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const child of node.children) stack.push(child)
    if (!isLookedFor(node, look)) continue
    hits.add(node)
    for (let each: SpanNode | undefined = node; each && !way.has(each); each = each.parent) {
      way.add(each)
    }
  }
  return { hits, way }
}

const hasMatchBelow = ({ children }: SpanNode, way: ReadonlySet<SpanNode>) =>
  children.some((child) => way.has(child))
