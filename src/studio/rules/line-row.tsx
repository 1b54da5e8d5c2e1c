/** A line of the log of a rule. */

import type { RuleLine } from '../../api/index.ts'
import { StatusChip } from '../parts/status.tsx'
import type { Status } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './rules.module.css'

const states: Readonly<Record<RuleLine['outcome'], readonly [Status, string]>> = {
  done: ['done', 'Done'],
  failed: ['failed', 'Failed'],
  skipped: ['idle', 'Left out'],
  alert: ['waiting', 'Alert'],
}

/** Chip with the outcome of a line of the log. */
export function OutcomeChip({ outcome }: Pick<RuleLine, 'outcome'>) {
  const [status, word] = states[outcome]
  return <StatusChip status={status} word={word} />
}

/** The cells of a row. */
export function LineRow({ line, open }: {
  readonly line: RuleLine | undefined
  readonly open: (line: RuleLine) => void
}) {
  if (line === undefined) return <span role="gridcell" />
  return (
    <div className={css['line']} role="presentation" onClick={() => open(line)}>
      <span role="gridcell">
        <OutcomeChip outcome={line.outcome} />
      </span>
      <span role="gridcell" className={css['message']} dir="auto" title={line.message}>
        {line.message}
      </span>
      <span role="gridcell" className={css['time']}>
        <TimeText iso={line.time} />
      </span>
    </div>
  )
}
