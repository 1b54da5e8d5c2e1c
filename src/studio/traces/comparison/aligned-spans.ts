/** The spans of two traces, step beside step. Pure. */

import type { SpanNode, SpanTree } from '../waterfall/span-tree.ts'

/** A step of one trace, and the same one of the other; undefined where one has no such step. */
export interface AlignedRow {
  /** Names the row as long as the traces stay the same. */
  readonly id: string
  readonly depth: number
  readonly before: SpanNode | undefined
  readonly after: SpanNode | undefined
}

/** Rows that are shown: longer traces are cut, and it is said. */
export const alignedMax = 10_000

/**
 * The rows, from above. Steps with the same name and type below the same step belong together, the
 * first with the first; what only the other trace has stands behind what it follows there.
 */
export function alignedRows(before: Pick<SpanTree, 'roots'>,
  after: Pick<SpanTree, 'roots'>): readonly AlignedRow[] {
  const rows: AlignedRow[] = []
  // Two roots are what is compared, also under different names.
  const first: readonly Pair[] = before.roots.length === 1 && after.roots.length === 1
    ? [{ before: before.roots[0]!, after: after.roots[0]! }]
    : paired(before.roots, after.roots)
  const stack = first.toReversed().map((pair) => ({ pair, depth: 0 }))
  for (let next = stack.pop(); next !== undefined && rows.length < alignedMax; next = stack.pop()) {
    const { pair, depth } = next
    rows.push({ id: `${pair.before?.span.id ?? ''} ${pair.after?.span.id ?? ''}`, depth, ...pair })
    const below = paired(pair.before?.children ?? [], pair.after?.children ?? [])
    for (const child of below.toReversed()) stack.push({ pair: child, depth: depth + 1 })
  }
  return rows
}

/** Difference of a step: one trace alone has it, or it failed in one of both. */
export type Change = 'added' | 'removed' | 'failed' | 'mended' | 'same'

/** The difference of a step. Its times may be others in any case. */
export function changeOf({ before, after }: AlignedRow): Change {
  if (before === undefined) return 'added'
  if (after === undefined) return 'removed'
  const failed = ({ span }: SpanNode) => span.status === 'ERROR'
  if (failed(before) === failed(after)) return 'same'
  return failed(after) ? 'failed' : 'mended'
}

interface Pair {
  readonly before: SpanNode | undefined
  readonly after: SpanNode | undefined
}

function paired(before: readonly SpanNode[], after: readonly SpanNode[]): readonly Pair[] {
  const waiting = Map.groupBy(after, stepOf)
  const used = new Map<string, number>()
  const partners = new Map<SpanNode, SpanNode>()
  for (const node of before) {
    const step = stepOf(node)
    const at = used.get(step) ?? 0
    const partner = waiting.get(step)?.[at]
    if (partner === undefined) continue
    used.set(step, at + 1)
    partners.set(node, partner)
  }
  const taken = new Map([...partners].map(([node, partner]) => [partner, node]))
  // Steps of the other trace alone, by the step that they follow there.
  const behind = new Map<SpanNode | undefined, SpanNode[]>()
  let last: SpanNode | undefined
  for (const node of after) {
    const own = taken.get(node)
    if (own !== undefined) last = own
    else {
      const already = behind.get(last)
      if (already === undefined) behind.set(last, [node])
      else already.push(node)
    }
  }
  const alone = (node: SpanNode | undefined) =>
    behind.get(node)?.map((each): Pair => ({ before: undefined, after: each })) ?? []
  return [...alone(undefined),
    ...before.flatMap((node) => [{ before: node, after: partners.get(node) }, ...alone(node)])]
}

const stepOf = ({ span }: SpanNode) => `${span.run_type} ${span.name}`
