/** The runs of a replay: the verdict on each, and what differs. */

import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { ReplaySearch } from '../../addresses/deployments.ts'
import type { ReplayedRun } from '../../api/control/replays.ts'
import { shortId } from '../../api/thread-names.ts'
import { counted, duration } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { cellClass, Table } from '../../parts/table.tsx'
import css from '../parts/deployments.module.css'
import { placeText, verdictWords } from './replay-words.ts'
import { RecordedRunLink } from './recorded-run-link.tsx'

/** Rows that are shown at first. */
const shownMax = 100

/** Table of runs. A row leads to the recorded run, and to its difference. */
export function ReplayedRunTable({ name, id, runs, search }: {
  readonly name: string
  readonly id: string
  readonly runs: readonly ReplayedRun[]
  readonly search: ReplaySearch
}) {
  const [shown, setShown] = useState(shownMax)
  if (runs.length === 0) return <p className={css['meta']}>No run with this verdict.</p>
  return (
    <>
      <Table className={css['table']} caption="Runs, those that differ first"
        columns={['Run', 'Verdict', 'Where', 'What differs', 'Recorded on', { number: 'Took' }]}
      >
        {runs.slice(0, shown).map((run) => (
          <Row key={run.run_id} name={name} id={id} run={run} search={search} />
        ))}
      </Table>
      {runs.length > shown && (
        <Button className={css['more']} onClick={() => setShown(runs.length)}>
          {`Show ${counted(runs.length - shown, 'more run')}`}
        </Button>
      )}
    </>
  )
}

function Row({ name, id, run, search }: {
  readonly name: string
  readonly id: string
  readonly run: ReplayedRun
  readonly search: ReplaySearch
}) {
  const { word, tone } = verdictWords[run.verdict]
  const short = shortId(run.run_id)
  return (
    <tr>
      <th scope="row">
        <RecordedRunLink name={name} run={run}>
          {run.graph_id === '' ? 'not known' : run.graph_id}
        </RecordedRunLink>
        <small>{short}</small>
      </th>
      <td data-label="Verdict">
        <Chip tone={tone}>{word}</Chip>
      </td>
      <td data-label="Where" dir="auto">{placeText(run) || '–'}</td>
      <td data-label="What differs" dir="auto" className={css['message']}
        title={run.reason ?? undefined}
      >
        {run.reason ?? '–'}
      </td>
      <td data-label="Recorded on">{run.recorded_revision || '–'}</td>
      <td data-label="Took" className={cellClass.number}>{duration(run.ms)}</td>
      <td className={cellClass.acts}>
        {run.reason !== null && (
          <Link to="/deployments/$name/replays/$id" params={{ name, id }}
            search={{ ...search, run: run.run_id }} className={css['quiet']}
          >
            Difference<span className="unseen">of {short}</span>
          </Link>
        )}
      </td>
    </tr>
  )
}
