/** One row of the list of runs. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'

import type { FoundRun } from '../api/run-search.ts'
import { isOver } from '../api/runs.ts'
import { shortId } from '../api/thread-names.ts'
import { duration } from '../parts/amounts.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { runStatusOf, StatusGlyph, statusWords } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './run-list.module.css'

/** The row; a run that is not read yet is a grey bar. */
export const RunRow = memo(RunCells)

function RunCells({ run }: { readonly run: FoundRun | undefined }) {
  if (run === undefined) {
    return (
      <div className={css['row']}>
        <span role="gridcell">
          <Skeleton width={12} />
          <span className="unseen">Loading</span>
        </span>
        <span role="gridcell">
          <Skeleton width={180} />
        </span>
      </div>
    )
  }
  const status = runStatusOf(run.status)
  const word = run.status === 'timeout' ? 'Timed out' : statusWords(status)
  return (
    <div className={css['row']}>
      <span role="gridcell" className={css['state']}>
        <StatusGlyph status={status} /> {word}
      </span>
      <span role="gridcell" className={css['name']}>
        <Link to="/threads/$id" params={{ id: run.thread_id }} tabIndex={-1} preload={false}
          search={{ view: 'runs', run: run.run_id }} title={`Run ${run.run_id}`}
        >
          <code>{shortId(run.run_id)}</code>
        </Link>
        <span className={css['thread']}>
          of thread <code>{shortId(run.thread_id)}</code>
        </span>
      </span>
      <span role="gridcell" className={css['graph']} dir="auto">{run.graph_id}</span>
      <span role="gridcell" className={css['took']}>{took(run)}</span>
      <span role="gridcell" className={css['time']}>
        <TimeText iso={run.created_at} />
      </span>
    </div>
  )
}

/** Duration of a run that is over, from when it was made; empty for others. */
function took(run: FoundRun): string {
  return isOver(run) ? duration(Date.parse(run.updated_at) - Date.parse(run.created_at)) : ''
}
