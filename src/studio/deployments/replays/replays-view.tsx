/** The last replays of a deployment, and the form of a new one. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import type { Deployment } from '../../api/control/deployment.ts'
import { replayList, replayQuery } from '../../api/control/replays.ts'
import type { Replay } from '../../api/control/replays.ts'
import { useActs } from '../../parts/acts.ts'
import { count } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { cellClass, Table } from '../../parts/table.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import css from '../parts/deployments.module.css'
import { Refused } from '../parts/refused.tsx'
import { CancelReplay } from './cancel-replay.tsx'
import { countsText, phaseWords, progressText } from './replay-words.ts'
import { VerdictBar } from './verdict-bar.tsx'

const NewReplay = lazy(async () => ({ default: (await import('./new-replay.tsx')).NewReplay }))

/** Tab of the replays of a deployment, the newest first. */
export function ReplaysView({ deployment }: { readonly deployment: Deployment }) {
  const { name } = deployment
  const { act, revision } = useSearch({ from: '/deployments/$name' })
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(replayList(name))
  const show = (next: 'replay' | undefined) =>
    void navigate({ to: '/deployments/$name', params: { name },
      search: { view: 'replays', act: next } })
  useActs([{ words: 'Replay runs', act: () => show('replay') }])
  const isBusy = data?.some(({ phase }) => phase === 'running') === true
  return (
    <div className="page">
      {error !== null && data === undefined
        ? <Refused error={error} retry={() => void refetch()} what="Replays" />
        : (
          <>
            <div className={css['bar']}>
              <p className={css['meta']}>
                A replay executes recorded runs on a revision and says what differs. Their calls are
                answered from the recording: nothing is called, paid or written.
              </p>
              <Button kind="primary" icon={<Icon name="play" size={14} />} disabled={isBusy}
                title={isBusy ? 'A replay goes on: wait for it, or cancel it.' : undefined}
                onClick={() => show('replay')}
              >
                Replay
              </Button>
            </div>
            {data === undefined
              ? <Skeleton width="100%" height={160} />
              : data.length === 0
              ? <NoReplays name={name} />
              : <Rows name={name} replays={data} />}
          </>
        )}
      <Suspense>
        {act === 'replay' && (
          <NewReplay deployment={deployment} revision={revision} close={() => show(undefined)} />
        )}
      </Suspense>
    </div>
  )
}

function NoReplays({ name }: { readonly name: string }) {
  const line = `heddle replay ${name}`
  return (
    <Empty title="No replays yet">
      <p>
        Runs are recorded if langgraph.json says so: <code>{'"heddle": {"record": "all"}'}</code>
      </p>
      <p className={css['command']}>
        <code>{line}</code>
        <CopyButton text={line} label="Copy the command" />
      </p>
    </Empty>
  )
}

function Rows({ name, replays }: {
  readonly name: string
  readonly replays: readonly Replay[]
}) {
  return (
    <Table className={css['table']} caption="Replays, the newest first"
      columns={['Revision', 'State', 'Verdicts', { number: 'Runs' }, 'Started']}
    >
      {replays.map((replay) => <Row key={replay.id} name={name} listed={replay} />)}
    </Table>
  )
}

function Row({ name, listed }: { readonly name: string; readonly listed: Replay }) {
  const { data: progress } = useQuery(replayQuery(name, listed.id))
  const replay = progress?.replay ?? listed
  const { word, tone } = phaseWords[replay.phase]
  return (
    <tr>
      <th scope="row">
        <Link to="/deployments/$name/replays/$id" params={{ name, id: replay.id }} search={{}}>
          {replay.revision}
        </Link>
      </th>
      <td data-label="State">
        <Chip tone={tone}>{word}</Chip>
        {replay.phase === 'running' && progress !== undefined && (
          <small>{progressText(progress)}</small>
        )}
      </td>
      <td data-label="Verdicts" className={css['message']}>
        {progress !== undefined && (
          <>
            <VerdictBar progress={progress} />
            <small>{countsText(progress.verdicts)}</small>
          </>
        )}
      </td>
      <td data-label="Runs" className={cellClass.number}>
        {replay.runs === null ? '–' : count(replay.runs)}
      </td>
      <td data-label="Started">
        <TimeText iso={replay.started_at} />
        <small>by {replay.by}</small>
      </td>
      <td className={cellClass.acts}>
        {replay.phase === 'running' && <CancelReplay name={name} id={replay.id} small />}
      </td>
    </tr>
  )
}
