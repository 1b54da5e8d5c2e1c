/** Revisions as a table: what each does, who made it, and what still needs it. */

import { Link } from '@tanstack/react-router'

import { count, counted, size } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import type { Deployment, Revision } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { revisionState } from './rollout-words.ts'

/** True if new runs may be given to a revision. */
export const mayActivate = ({ active, rollout }: Pick<Deployment, 'active' | 'rollout'>,
  { name, state }: Pick<Revision, 'name' | 'state'>): boolean =>
  state === 'ready' && name !== active && rollout === null

/** Table of the revisions that were read, the newest first. */
export function RevisionTable({ deployment, revisions, activate, show }: {
  readonly deployment: Deployment
  readonly revisions: readonly Revision[]
  readonly activate: (revision: string) => void
  readonly show: (revision: string) => void
}) {
  return (
    <Table className={css['table']} caption="Revisions, the newest first"
      columns={['Revision', 'State', 'Message', 'Made', { number: 'Size' }, { number: 'Graphs' }, {
        number: 'Running',
      }, { number: 'Waiting', title: 'Threads that wait for a person' }]}
    >
      {revisions.map((revision) => (
        <Row key={revision.name} deployment={deployment} revision={revision} show={show}
          activate={activate} />
      ))}
    </Table>
  )
}

function Row({ deployment, revision, activate, show }: {
  readonly deployment: Deployment
  readonly revision: Revision
  readonly activate: (revision: string) => void
  readonly show: (revision: string) => void
}) {
  const { name, message, by, created_at: made, bytes, graphs, running, waiting_threads: waiting,
    reason } = revision
  const { word, tone } = revisionState(revision, deployment)
  return (
    <tr>
      <th scope="row">
        <Link to="/deployments/$name" params={{ name: deployment.name }} search={{ revision: name }}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey) return
            event.preventDefault()
            show(name)
          }}
        >
          {name}
        </Link>
      </th>
      <td data-label="State">
        <Chip tone={tone}>{word}</Chip>
      </td>
      <td data-label="Message" dir="auto" className={css['message']} title={reason ?? message}>
        {reason === null ? message || '–' : <span className={css['failed']}>{reason}</span>}
      </td>
      <td data-label="Made">
        <TimeText iso={made} />
        <small>by {by}</small>
      </td>
      <td data-label="Size" className={cellClass.number}>{size(bytes)}</td>
      <td data-label="Graphs" className={cellClass.number}>
        {graphs.length === 0 ? '–' : count(graphs.length)}
      </td>
      <td data-label="Running" className={cellClass.number}>{number(running)}</td>
      <td data-label="Waiting" className={cellClass.number}
        title={waiting === null ? undefined : counted(waiting, 'waiting thread')}
      >
        {number(waiting)}
      </td>
      <td className={cellClass.acts}>
        {mayActivate(deployment, revision) && (
          <Button kind="quiet" small onClick={() => activate(name)}>
            Roll out<span className="unseen">{name}</span>
          </Button>
        )}
        <Link to="/deployments/$name" params={{ name: deployment.name }}
          search={{ view: 'logs', revision: name }} className={css['quiet']}
        >
          Logs<span className="unseen">of {name}</span>
        </Link>
      </td>
    </tr>
  )
}

const number = (value: number | null) => (value === null ? '–' : count(value))
