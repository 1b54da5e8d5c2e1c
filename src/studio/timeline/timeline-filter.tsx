/** Filter of the time line: a node, a run, only inputs, and runs as one row. */

import { useMemo } from 'react'

import { Select } from '../parts/field.tsx'
import type { Step, StepFilter } from './steps.ts'
import css from './timeline-filter.module.css'

/** Controls that choose the steps of the time line. */
export function TimelineFilter({ steps, filter, change, isFolded, fold }: {
  readonly steps: readonly Step[]
  readonly filter: StepFilter
  readonly change: (filter: StepFilter) => void
  readonly isFolded: boolean
  readonly fold: (isFolded: boolean) => void
}) {
  const nodes = useMemo(() => [...new Set(steps.flatMap((step) => step.nodes))].sort(), [steps])
  const runs = useMemo(() => runsIn(steps), [steps])
  const { node, run, inputs = false } = filter
  const chosen = inputs ? 'inputs' : node !== undefined ? `node ${node}` : run !== undefined
    ? `run ${run}`
    : ''
  return (
    <div className={css['filter']}>
      <Select aria-label="Steps that are shown" value={chosen}
        onChange={({ target }) => change(filterOf(target.value))}
      >
        <option value="">All steps</option>
        <option value="inputs">Only inputs</option>
        <optgroup label="Steps of a node">
          {nodes.map((each) => <option key={each} value={`node ${each}`}>{each}</option>)}
        </optgroup>
        <optgroup label="Steps of a run">
          {runs.map(([id, label]) => <option key={id} value={`run ${id}`}>{label}</option>)}
        </optgroup>
      </Select>
      <label>
        <input type="checkbox" checked={isFolded} disabled={chosen !== ''}
          onChange={({ target }) => fold(target.checked)} />
        Runs as one row
      </label>
    </div>
  )
}

function filterOf(value: string): StepFilter {
  if (value === 'inputs') return { inputs: true }
  if (value.startsWith('node ')) return { node: value.slice(5) }
  return value.startsWith('run ') ? { run: value.slice(4) } : {}
}

/** Runs by id with the words that they were given, newest first. */
function runsIn(steps: readonly Step[]): readonly (readonly [string, string])[] {
  const runs = new Map<string, string>()
  for (const { runId, kind, label } of steps) {
    if (runId === undefined) continue
    if (kind === 'input') runs.set(runId, label.slice(0, 60))
    else if (!runs.has(runId)) runs.set(runId, `Run ${runId.slice(-8)}`)
  }
  return [...runs]
}
