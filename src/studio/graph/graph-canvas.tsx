/** The picture of a graph on a canvas that is moved and zoomed. */

import { memo, useMemo, useRef } from 'react'

import type { NodeStates } from '../live/node-state.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { WarpEdge } from './graph-edge.tsx'
import { BoxNode, TaskNode, Terminal } from './graph-node.tsx'
import css from './graph.module.css'
import { flowEdges, flowNodes } from './flow-parts.ts'
import type { FlowNode } from './flow-parts.ts'
import { MiniMap } from './mini-map.tsx'
import type { Pauses } from './pauses.ts'
import type { LaidOut } from './use-layout.ts'
import { useViewport } from './use-viewport.ts'
import { isAllSeen, isNear, seenPart } from './viewport.ts'

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

/** Of larger graphs only the nodes near the seen part are in the page. */
const mostDrawn = 150

/** States of nodes that a large graph opens on, the most urgent first. */
const urgency = ['failed', 'waiting', 'running', 'next'] as const

/** Canvas of a graph, which people can move and zoom. */
export function GraphCanvas(
  { laidOut, nodes: states, chosen, choose, turn, pauses }: GraphCanvasProps,
) {
  const box = useRef<HTMLDivElement>(null)
  const latest = useRef({ turn, choose })
  latest.current = { turn, choose }
  const nodes = useMemo(
    () => flowNodes(laidOut, states, chosen, pauses, (id) => latest.current.turn(id)),
    [laidOut, states, chosen, pauses],
  )
  const edges = useMemo(() => flowEdges(laidOut, states), [laidOut, states])
  const { placed } = laidOut
  const first = useRef<FlowNode>(undefined)
  first.current = firstOf(nodes, chosen) ?? nodes.find(({ id }) => id === first.current?.id) ??
    nodes.find(({ type }) => type !== 'box')
  const { view, size, acts, hand } = useViewport(box, placed, first.current?.place)
  const drawn = nodes.length <= mostDrawn || view === undefined || size === undefined
    ? nodes
    : nodes.filter(({ place }) => isNear(view, size, place))
  const isWhole = view === undefined || size === undefined || isAllSeen(view, size, placed)
  return (
    <div className={css['canvas']} ref={box}>
      <div className={css['ground']} {...hand} onClick={() => choose(undefined)}>
        {view !== undefined && (
          <div className={css['plane']}
            style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.zoom})` }}
          >
            {drawn.filter(({ type }) => type === 'box').map((node) => (
              <Placed key={node.id} node={node} choose={choose} show={acts.show} />
            ))}
            <svg className={css['edges']} aria-hidden="true">
              {edges.map((edge) => <WarpEdge key={edge.id} edge={edge} />)}
            </svg>
            {drawn.filter(({ type }) => type !== 'box').map((node) => (
              <Placed key={node.id} node={node} choose={(id) => latest.current.choose(id)}
                show={acts.show} />
            ))}
          </div>
        )}
      </div>
      <div className={css['zoom']}>
        <Button small kind="quiet" label="Zoom in" icon={<Icon name="plus" size={14} />}
          onClick={acts.zoomIn} />
        <Button small kind="quiet" label="Zoom out" icon={<Icon name="minus" size={14} />}
          onClick={acts.zoomOut} />
        <Button small kind="quiet" onClick={acts.fit}>Fit</Button>
      </div>
      {!isWhole && (
        <MiniMap nodes={nodes} graph={placed} seen={seenPart(view, size)} centre={acts.centre} />
      )}
    </div>
  )
}

function firstOf(nodes: readonly FlowNode[], chosen: string | undefined): FlowNode | undefined {
  const pressing = urgency.map((state) =>
    nodes.find(({ type, activity }) => type !== 'box' && activity?.state === state)
  )
  return nodes.find(({ id }) => id === chosen) ?? pressing.find((node) => node !== undefined)
}

const Placed = memo(function Placed({ node, choose, show }: {
  readonly node: FlowNode
  readonly choose: (node: string | undefined) => void
  readonly show: (place: FlowNode['place']) => void
}) {
  const { id, type, place, label } = node
  const style = { left: place.x, top: place.y, width: place.width, height: place.height }
  if (type === 'box')
    return (
      <div className={css['place']} style={style}>
        <BoxNode node={node} />
      </div>
    )
  if (label === undefined) {
    return (
      <div className={css['place']} style={style} aria-hidden="true">
        <Terminal type={type} />
      </div>
    )
  }
  return (
    <div className={css['place']} style={style} data-node={id} role="button" tabIndex={0}
      aria-label={label} aria-pressed={node.isChosen} onFocus={() => show(place)}
      onClick={(event) => {
        event.stopPropagation()
        choose(id)
      }} onKeyDown={(event) => {
      const isChoice = event.key === 'Enter' || event.key === ' '
      if (!isChoice && !(event.key === 'Escape' && node.isChosen)) return
      event.preventDefault()
      choose(isChoice ? id : undefined)
    }}>
      <TaskNode node={node} />
    </div>
  )
}, (old, now) => old.node === now.node)
