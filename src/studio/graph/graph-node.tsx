/** Nodes of the picture: a task with its state, the two ends, and the box of a subgraph. */

import { count } from '../parts/amounts.ts'
import { Icon } from '../parts/icon.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import type { FlowNode } from './flow-parts.ts'
import css from './graph.module.css'
import { durationWords, timesWords } from './node-activity.ts'

/** A node that runs, or a folded box. */
export function TaskNode({ node }: { readonly node: FlowNode }) {
  const { name, activity, holds, turn, pause, isChosen } = node
  const state = activity?.state ?? 'idle'
  const [times, took] = [timesWords(activity), durationWords(activity)]
  return (
    <div title={pause === '' ? name : `${name}: ${pause}`} data-state={state} data-pause={pause}
      className={`${css['node']} ${css[state] ?? ''} ${isChosen ? css['chosen'] : ''} ${
        holds > 0 ? css['folded'] : ''
      }`}
    >
      <StatusGlyph status={state} size={12} />
      {/* The spaces part the words for those who hear them; a row of boxes shows none. */}
      <span className={css['label']}>{name}</span>{' '}
      {times !== '' && <span className={css['times']}>{times}</span>}{' '}
      {took !== '' && <small>{took}</small>}{' '}
      {holds > 0 && (
        <span className={css['unfold']} onClick={(event) => {
          event.stopPropagation()
          turn?.()
        }}>
          {count(holds)}
          <Icon name="down" size={10} />
        </span>
      )}
    </div>
  )
}

/** Node at which runs begin, or end. */
export function Terminal({ type }: { readonly type: FlowNode['type'] }) {
  return (
    <div className={`${css['terminal']} ${type === 'end' ? css['end'] : ''}`}>
      <i />
    </div>
  )
}

/** The box around the nodes of a subgraph; its name folds it. */
export function BoxNode({ node: { name, activity, turn } }: { readonly node: FlowNode }) {
  const state = activity?.state
  const words = state === undefined ? '' : `: ${statusWords(state)}`
  return (
    <div className={`${css['box']} ${state === undefined ? '' : css[`${state}Box`]}`}>
      <button type="button" aria-label={`Fold ${name}${words}`} onClick={(event) => {
        event.stopPropagation()
        turn?.()
      }}>
        {state !== undefined && <StatusGlyph status={state} size={12} />}
        {name}
        <Icon name="up" size={10} />
      </button>
    </div>
  )
}
