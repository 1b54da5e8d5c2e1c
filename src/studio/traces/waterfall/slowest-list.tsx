/** The slowest spans of a trace: those that spent the most time themselves. */

import { duration } from '../../parts/amounts.ts'
import { share } from '../../parts/trace-words.ts'
import { heatOf, ownShareOf, ownTimeOf } from './own-time.ts'
import type { SpanNode, SpanTree } from './span-tree.ts'
import css from './waterfall.module.css'

/** List of spans with their own times and shares; a press chooses one. */
export function SlowestList({ tree, slowest, chosen, choose }: {
  readonly tree: SpanTree
  readonly slowest: readonly SpanNode[]
  readonly chosen: string
  readonly choose: (id: string) => void
}) {
  return (
    <ol className={css['slowest']} aria-label="Slowest spans">
      {slowest.map((node) => {
        const ownShare = ownShareOf(node, tree)
        return (
          <li key={node.span.id}>
            <button type="button" aria-current={node.span.id === chosen || undefined}
              onClick={() => choose(node.span.id)}
            >
              <i className={css['heat']} data-heat={heatOf(ownShare)} aria-hidden="true" />
              <span dir="auto" title={node.span.name}>{node.span.name}</span>
              <small>{duration(ownTimeOf(node) / 1_000)}</small>
              <small>{share(ownShare)}</small>
            </button>
          </li>
        )
      })}
    </ol>
  )
}
