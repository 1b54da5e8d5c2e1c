/** Nodes of the picture: a task with its state, the two ends, and the box of a subgraph. */

import { Handle, Position } from '@xyflow/react'
import type { NodeProps } from '@xyflow/react'
import { memo } from 'react'

import { count } from '../parts/amounts.ts'
import { Icon } from '../parts/icon.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import type { FlowNode } from './flow-parts.ts'
import css from './graph.module.css'
import { durationWords, timesWords } from './node-activity.ts'

const source = <Handle type="source" position={Position.Bottom} isConnectable={false} />
const target = <Handle type="target" position={Position.Top} isConnectable={false} />

/** A node that runs, or a folded box. */
export const TaskNode = memo(function TaskNode({ data, selected }: NodeProps<FlowNode>) {
  const { label, activity, holds, turn, pause } = data
  const state = activity?.state ?? 'idle'
  const [times, took] = [timesWords(activity), durationWords(activity)]
  return (
    <div title={pause === '' ? label : `${label}: ${pause}`} data-state={state} data-pause={pause}
      className={`${css['node']} ${css[state] ?? ''} ${selected ? css['chosen'] : ''} ${
        holds > 0 ? css['folded'] : ''
      }`}
    >
      {target}
      <StatusGlyph status={state} size={12} />
      {/* The spaces part the words for those who hear them; a row of boxes shows none. */}
      <span className={css['label']}>{label}</span>{' '}
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
      {source}
    </div>
  )
})

/** Node at which runs begin. */
export const StartNode = memo(function StartNode() {
  return (
    <div className={css['terminal']}>
      <i />
      {source}
    </div>
  )
})

/** Node at which runs end. */
export const EndNode = memo(function EndNode() {
  return (
    <div className={`${css['terminal']} ${css['end']}`}>
      {target}
      <i />
    </div>
  )
})

/** The box around the nodes of a subgraph; its name folds it. */
export const BoxNode = memo(function BoxNode({ data: { label, activity, turn } }: NodeProps<
  FlowNode
>) {
  const state = activity?.state
  const words = state === undefined ? '' : `: ${statusWords(state)}`
  return (
    <div className={`${css['box']} ${state === undefined ? '' : css[`${state}Box`]}`}>
      <button type="button" className="nopan" onClick={turn} aria-label={`Fold ${label}${words}`}>
        {state !== undefined && <StatusGlyph status={state} size={12} />}
        {label}
        <Icon name="up" size={10} />
      </button>
    </div>
  )
})
