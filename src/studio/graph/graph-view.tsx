/** The picture of a graph, with what each node does. */

import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'

import type { GraphPicture } from '../../api/index.ts'
import { graphPicture } from '../api/assistants.ts'
import type { NodeStates } from '../live/node-state.ts'
import { Empty } from '../parts/empty.tsx'
import { later } from '../parts/later.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { drawingOf } from './drawing.ts'
import css from './graph.module.css'
import { spoken } from './node-activity.ts'
import { noPauses } from './pauses.ts'
import type { Pauses } from './pauses.ts'
import type { Direction } from './placed.ts'
import { startLayouts, useLayout } from './use-layout.ts'

/** The graph of an assistant. */
export interface GraphViewProps {
  readonly assistantId: string
  readonly nodes: NodeStates
  /** The chosen node, by its id in the picture. */
  readonly chosen?: string | undefined
  readonly choose: (node: string | undefined) => void
  /** Breakpoints, which are marked. */
  readonly pauses?: Pauses
  /** Shows the graph alone in the window, or beside the rest again; undefined where it cannot. */
  readonly setAlone?: ((alone: boolean) => void) | undefined
  readonly isAlone?: boolean
}

const GraphList = later(async () => (await import('./graph-list.tsx')).GraphList, <GraphSkeleton />)
const Canvas = later(async () => (await import('./graph-canvas.tsx')).GraphCanvas,
  <GraphSkeleton />)

interface PictureProps extends Omit<GraphViewProps, 'assistantId'> {
  readonly picture: GraphPicture
  readonly pauses: Pauses
  readonly isAlone: boolean
}

/** The canvas and the layout are fetched while the server still says what is to be drawn. */
function prepare(): void {
  startLayouts()
  // Whoever draws it says that it failed.
  void Canvas.fetch().catch(() => {})
}

/** Picture of the graph of an assistant, with the states of its nodes. */
export function GraphView(
  { assistantId, pauses = noPauses, isAlone = false, ...rest }: GraphViewProps,
) {
  const { data, error, refetch } = useQuery(graphPicture(assistantId))
  useEffect(prepare, [])
  if (data !== undefined) {
    return <Picture key={assistantId} picture={data} {...{ pauses, isAlone, ...rest }} />
  }
  return error === null
    ? <GraphSkeleton />
    : (
      <div className={css['aside']}>
        <ErrorNotice error={error} retry={() => void refetch()} />
      </div>
    )
}

function Picture({ picture, nodes, chosen, choose, pauses, isAlone, setAlone }: PictureProps) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const [asList, setAsList] = useState(false)
  const drawing = useMemo(() => drawingOf(picture, turned), [picture, turned])
  const [turnedTo, setDirection] = useState<Direction>()
  // A window is wider than a column.
  const direction = turnedTo ?? (isAlone ? 'right' : 'down')
  const laidOut = useLayout(drawing, direction)
  const turn = (box: string) =>
    setTurned((old) => {
      const next = new Set(old)
      if (!next.delete(box)) next.add(box)
      return next
    })
  if (picture.nodes.length === 0) {
    return (
      <Empty title="No picture">
        <p>This graph has no nodes that could be drawn.</p>
      </Empty>
    )
  }
  return (
    <section className={css['graph']} aria-label="Graph of the assistant">
      {asList
        ? <GraphList {...{ drawing, nodes, chosen, choose, turn, pauses }} />
        : laidOut === undefined
        ? <GraphSkeleton />
        : <Canvas {...{ laidOut, nodes, chosen, choose, turn, pauses }} />}
      <div className={css['mode']}>
        <button type="button" aria-pressed={asList} onClick={() => setAsList(!asList)}>
          {asList ? 'As a picture' : 'As a list'}
        </button>
        {!asList && (
          <button type="button" onClick={() =>
            setDirection(direction === 'down' ? 'right' : 'down')}
          >
            {direction === 'down' ? 'Left to right' : 'Top to bottom'}
          </button>
        )}
        {setAlone !== undefined && (
          <button type="button" onClick={() => setAlone(!isAlone)}>
            {isAlone ? 'Leave full screen' : 'Full screen'}
          </button>
        )}
      </div>
      <p className="unseen" role="status">{spoken(nodes)}</p>
    </section>
  )
}

function GraphSkeleton() {
  return (
    <div className={css['loading']} aria-busy="true">
      <span className="unseen">The picture is being drawn.</span>
      {[0, 1, 2, 3].map((at) => <Skeleton key={at} width={146} height={36} />)}
    </div>
  )
}
