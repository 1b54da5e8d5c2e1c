/** The picture of a graph on a canvas that is moved and zoomed. */

import '@xyflow/react/dist/base.css'

import { Background, BackgroundVariant, ReactFlow, ReactFlowProvider,
  useReactFlow } from '@xyflow/react'
import type { NodeChange } from '@xyflow/react'
import { useEffect, useMemo, useRef } from 'react'

import type { NodeStates } from '../live/node-state.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { WarpEdge } from './graph-edge.tsx'
import { BoxNode, EndNode, StartNode, TaskNode } from './graph-node.tsx'
import css from './graph.module.css'
import { flowEdges, flowNodes } from './flow-parts.ts'
import type { FlowNode } from './flow-parts.ts'
import type { Pauses } from './pauses.ts'
import type { LaidOut } from './use-layout.ts'

/** A graph at its place, what its nodes do, and which one is chosen. */
export interface GraphCanvasProps {
  readonly laidOut: LaidOut
  readonly nodes: NodeStates
  readonly chosen: string | undefined
  readonly choose: (node: string | undefined) => void
  /** Folds or unfolds a box. */
  readonly turn: (box: string) => void
  readonly pauses: Pauses
}

const nodeTypes = { node: TaskNode, folded: TaskNode, start: StartNode, end: EndNode, box: BoxNode }
const edgeTypes = { warp: WarpEdge }
const fit = { padding: .08, maxZoom: 1 }

/** Canvas of a graph, which people can move and zoom. */
export function GraphCanvas(props: GraphCanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  )
}

function Flow({ laidOut, nodes: states, chosen, choose, turn, pauses }: GraphCanvasProps) {
  const flow = useReactFlow()
  const box = useRef<HTMLDivElement>(null)
  const moved = useRef(false)
  const latest = useRef(turn)
  latest.current = turn
  const nodes = useMemo(
    () => flowNodes(laidOut, states, chosen, pauses, (id) => latest.current(id)),
    [laidOut, states, chosen, pauses],
  )
  const edges = useMemo(() => flowEdges(laidOut, states), [laidOut, states])
  const fitAll = () => void flow.fitView(fit)
  useEffect(() => {
    moved.current = false
    const frame = requestAnimationFrame(fitAll)
    const sizes = new ResizeObserver(() => {
      if (!moved.current) fitAll()
    })
    sizes.observe(box.current!)
    return () => {
      cancelAnimationFrame(frame)
      sizes.disconnect()
    }
  }, [laidOut])
  const change = (changes: readonly NodeChange<FlowNode>[]) => {
    const picks = changes.filter((one) => one.type === 'select')
    const picked = picks.find(({ selected }) => selected)
    if (picked !== undefined) choose(picked.id)
    else if (picks.some(({ id }) => id === chosen)) choose(undefined)
  }
  return (
    <div ref={box} className={css['canvas']}>
      <ReactFlow nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes}
        onNodesChange={change} onMoveStart={(event) => void (moved.current ||= event !== null)}
        fitView fitViewOptions={fit} minZoom={.1} maxZoom={2} nodesDraggable={false}
        nodesConnectable={false} edgesFocusable={false} deleteKeyCode={null} selectionKeyCode={null}
        multiSelectionKeyCode={null} panOnScroll zoomOnScroll={false} zoomOnDoubleClick={false}
        onlyRenderVisibleElements={nodes.length > 150} proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={18} size={1.4} color="var(--line-strong)"
          className={css['dots']!} />
      </ReactFlow>
      <div className={css['zoom']}>
        <Button small kind="quiet" label="Zoom in" icon={<Icon name="plus" size={14} />}
          onClick={() => void flow.zoomIn()} />
        <Button small kind="quiet" label="Zoom out" icon={<Icon name="minus" size={14} />}
          onClick={() => void flow.zoomOut()} />
        <Button small kind="quiet" onClick={fitAll}>Fit</Button>
      </div>
    </div>
  )
}
