/** The column of the graph: its picture, and what the chosen node did. */

import { lazy, Suspense, useCallback, useMemo } from 'react'

import { Divider } from '../parts/room/divider.tsx'
import { useKeys } from '../parts/keys.ts'
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
  const { choice: { assistant }, nodes, search: { node, alone }, go, settings } = screen
  const isAlone = alone === 'graph'
  const pauses = useMemo(
    () => ({ before: settings.interruptBefore, after: settings.interruptAfter }),
    [settings.interruptBefore, settings.interruptAfter],
  )
  const choose = useCallback((id: string | undefined) => go({ node: id }, true), [go])
  const setAlone = useCallback(
    (will: boolean) => go({ alone: will ? 'graph' : undefined }, true),
    [go],
  )
  useKeys('Graph', isAlone
    ? { Escape: { words: 'Leave full screen', act: () => setAlone(false) } }
    : {})
  return (
    <section className={`${css['column']} ${css['graph']}`} aria-label="Graph"
      id={paneId('graph', screen)}
    >
      <Divider pane="graph" label="Width of the graph" edge="left" usual={340} least={240}
        most={900} />
      <div className={css['head']}>
        <h2>Graph</h2>
        <span className={css['aside']}>{assistant?.graph_id}</span>
      </div>
      {assistant !== undefined && (
        <div className={css['panel']}>
          <GraphView assistantId={assistant.assistant_id} nodes={nodes} chosen={node}
            choose={choose} pauses={pauses} isAlone={isAlone} setAlone={setAlone} />
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
