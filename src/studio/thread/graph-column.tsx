/** The column of the graph: its picture, and what the chosen node did. */

import { lazy, Suspense, useCallback, useMemo } from 'react'

import { later } from '../parts/later.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { paneId } from './screen/pane-id.ts'
import css from './screen/columns.module.css'
import type { Screen } from './screen/use-screen.ts'

const GraphView = later(
  async () => (await import('../graph/graph-view.tsx')).GraphView,
  <div className={css['pad']}>
    <Skeleton width="100%" height={220} />
  </div>,
)
const NodePanel = lazy(async () => ({ default: (await import('./node-panel.tsx')).NodePanel }))

/** Column with the graph of a thread and the panel of the chosen node. */
export function GraphColumn({ screen }: { readonly screen: Screen }) {
  const { choice: { assistant }, nodes, search: { node }, go, settings } = screen
  const pauses = useMemo(
    () => ({ before: settings.interruptBefore, after: settings.interruptAfter }),
    [settings.interruptBefore, settings.interruptAfter],
  )
  const choose = useCallback((id: string | undefined) => go({ node: id }, true), [go])
  return (
    <section className={`${css['column']} ${css['graph']}`} aria-label="Graph"
      id={paneId('graph', screen)}
    >
      <div className={css['head']}>
        <h2>Graph</h2>
        <span className={css['aside']}>{assistant?.graph_id}</span>
      </div>
      {assistant !== undefined && (
        <div className={css['panel']}>
          <GraphView assistantId={assistant.assistant_id} nodes={nodes} chosen={node}
            choose={choose} pauses={pauses} />
        </div>
      )}
      {node !== undefined && (
        <Suspense fallback={<Skeleton width="100%" height={120} />}>
          <NodePanel node={node} screen={screen} close={() => choose(undefined)} />
        </Suspense>
      )}
    </section>
  )
}
