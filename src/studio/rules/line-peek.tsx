/** A line of the log beside the list: what each action did, and where its traces are. */

import { Link } from '@tanstack/react-router'

import type { RuleLine } from '../../api/index.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import { OutcomeChip } from './line-row.tsx'
import css from './rules.module.css'

const kinds: Readonly<Record<string, string>> = { queue: 'Queue', dataset: 'Dataset',
  webhook: 'Webhook', evaluator: 'Evaluator' }

/** Panel with one line of the log of a rule. */
export function LinePeek({ line, close }: {
  readonly line: RuleLine
  readonly close: () => void
}) {
  const { run_id: run, trace_id: trace, session_id: project } = line
  return (
    <section className={css['peek']} aria-label="Line of the log">
      <header>
        <OutcomeChip outcome={line.outcome} />
        <Button kind="quiet" small label="Close" icon={<Icon name="close" />} onClick={close} />
      </header>
      <p dir="auto">{line.message}</p>
      {run !== undefined && trace !== undefined && project !== undefined && (
        <Link to="/traces/$project/$trace" params={{ project, trace }} search={{ span: run }}
          className={css['link']}
        >
          <Icon name="traces" size={14} /> The run that it is about
        </Link>
      )}
      <ul>
        {line.actions.map(({ kind, outcome, message, judge_run_id: judge }, at) => (
          <li key={at}>
            <b>{kinds[kind] ?? kind}</b>
            <span className={outcome === 'failed' ? css['failed'] : undefined} dir="auto">
              {message}
            </span>
            {judge !== undefined && (
              <TraceLink runId={judge} className={css['link']}>
                <Icon name="traces" size={14} /> The trace of the evaluator
              </TraceLink>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
