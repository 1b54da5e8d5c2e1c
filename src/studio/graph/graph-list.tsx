/** The picture of a graph as a table: the same for those who do not see it. */

import type { NodeStates } from '../live/node-state.ts'
import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import type { Drawing, DrawnNode } from './drawing.ts'
import css from './graph.module.css'
import { activityOf, durationWords } from './node-activity.ts'
import { pauseWords } from './pauses.ts'
import type { Pauses } from './pauses.ts'

/** A drawing, what its nodes do, and which one is chosen. */
export interface GraphListProps {
  readonly drawing: Drawing
  readonly nodes: NodeStates
  readonly chosen: string | undefined
  readonly choose: (node: string | undefined) => void
  readonly turn: (box: string) => void
  readonly pauses: Pauses
}

/** Nodes of a graph as a table, for people who do not use the picture. */
export function GraphList({ chosen, ...props }: GraphListProps) {
  const rows = props.drawing.nodes.filter(({ kind }) => kind === 'node' || kind === 'folded')
  return (
    <div className={css['list']} tabIndex={0} role="region" aria-label="Nodes as a list">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col">Runs</th>
            <th scope="col">Time</th>
            <th scope="col">Leads to</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((node) => (
            <NodeRow key={node.id} {...props} node={node} isChosen={node.id === chosen} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function NodeRow(
  { node, drawing, nodes, isChosen, choose, turn, pauses }: Omit<GraphListProps, 'chosen'> & {
    readonly node: DrawnNode
    readonly isChosen: boolean
  },
) {
  const activity = activityOf(node, nodes)
  const { state = 'idle', times = 0 } = activity ?? {}
  const pause = pauseWords(pauses, node.id)
  const targets = drawing.edges.filter(({ source }) => source === node.id)
    .map(({ target, conditional }) => `${wordsOf(target)}${conditional ? ' (perhaps)' : ''}`)
  return (
    <tr className={isChosen ? css['chosenRow'] : undefined}>
      <th scope="row">
        <button type="button" aria-pressed={isChosen}
          onClick={() => choose(isChosen ? undefined : node.id)}
        >
          {wordsOf(node.id)}
        </button>
        {node.holds > 0 && (
          <Button small onClick={() => turn(node.id)}>{`Unfold ${count(node.holds)}`}</Button>
        )}
      </th>
      <td>
        <span className={css['state']}>
          <StatusGlyph status={state} size={12} />
          {statusWords(state)}
        </span>
        {pause !== '' && <small className={css['pauses']}>{pause}</small>}
      </td>
      <td>{times > 0 ? count(times) : ''}</td>
      <td>{durationWords(activity)}</td>
      <td>{targets.join(', ')}</td>
    </tr>
  )
}

const wordsOf = (id: string): string =>
  id === '__end__' ? 'the end' : id === '__start__' ? 'the start' : id.replaceAll(':', ' › ')
