/** The newest run of a cron: when it was, how it ended, and the way to it. */

import { Link } from '@tanstack/react-router'

import type { CronLastRun } from '../../api/index.ts'
import { runStatusOf, StatusGlyph, statusWords } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import css from './crons.module.css'

/** The run. One whose thread was deleted has the status of its trace, if there is one. */
export function LastRun({ last, traced }: {
  readonly last: CronLastRun | undefined
  /** Status of its trace; undefined if it is not known. */
  readonly traced: string | undefined
}) {
  if (last === undefined) return 'never'
  const { at, run_id: run, thread_id: thread, status, reason } = last
  if (run === null || thread === null) {
    return (
      <span className={css['last']}>
        <span className={css['state']} title={reason ?? undefined}>
          <StatusGlyph status="cancelled" size={12} /> Skipped
        </span>
        <small dir="auto">{reason}</small>
        <small>
          <TimeText iso={at} />
        </small>
      </span>
    )
  }
  const shown = status ?? traced
  const words = shown === undefined ? 'Ended' : shown === 'timeout'
    ? 'Timed out'
    : statusWords(runStatusOf(shown))
  const state = (
    <>
      <StatusGlyph status={shown === undefined ? 'idle' : runStatusOf(shown)} size={12} /> {words}
    </>
  )
  return (
    <span className={css['last']}>
      {status !== null
        ? (
          <Link to="/threads/$id" params={{ id: thread }} search={{ view: 'runs', run }}
            className={`${css['state']} ${css['link']}`} preload={false} title={`Run ${run}`}
          >
            {state}
          </Link>
        )
        : traced !== undefined
        ? (
          <TraceLink runId={run} className={`${css['state']} ${css['link']}`}>
            {state}
          </TraceLink>
        )
        : (
          <span className={css['state']} title="The run was deleted with its thread.">
            {state}
          </span>
        )}
      <small>
        <TimeText iso={at} />
      </small>
    </span>
  )
}
