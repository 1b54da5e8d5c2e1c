/** A replay: how far it is, its verdicts, equal differences, and its runs. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'

import type { ReactNode } from 'react'

import { verdicts } from '../../addresses/deployments.ts'
import type { ReplaySearch } from '../../addresses/deployments.ts'
import { studioOf } from '../../api/place.ts'
import { replayedRuns, replayQuery } from '../../api/control/replays.ts'
import type { ReplayProgress } from '../../api/control/replays.ts'
import { count, duration } from '../../parts/amounts.ts'
import { buttonClass } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNotice, Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { Moment } from '../../parts/times/time-text.tsx'
import filter from '../../threads/thread-filter-bar.module.css'
import css from '../parts/deployments.module.css'
import { Refused } from '../parts/refused.tsx'
import { CancelReplay } from './cancel-replay.tsx'
import { DifferenceGroups } from './difference-groups.tsx'
import { chosenRuns, phaseWords, progressText, usageText, verdictWords } from './replay-words.ts'
import { ReplayedRunTable } from './replayed-run-table.tsx'
import { RunDifference } from './run-difference.tsx'
import { VerdictBar } from './verdict-bar.tsx'

/** Page of one replay. */
export function ReplayPage() {
  const { name, id } = useParams({ from: '/deployments/$name/replays/$id' })
  const { data, error, refetch } = useQuery(replayQuery(name, id))
  const phase = data && phaseWords[data.replay.phase]
  return (
    <>
      <PageHead title={data ? `Replay on ${data.replay.revision}` : 'Replay'}
        before={<Back name={name} />} aside={phase && <Chip tone={phase.tone}>{phase.word}</Chip>}
        acts={data && <Acts name={name} progress={data} />}
      >
        {data && <Facts progress={data} />}
      </PageHead>
      {data === undefined
        ? (
          <div className="page">
            {error === null
              ? <Skeleton width="100%" height={200} />
              : <Refused error={error} retry={() => void refetch()} what="Replays" />}
          </div>
        )
        : <Body name={name} progress={data} />}
    </>
  )
}

function Back({ name }: { readonly name: string }) {
  return (
    <Link to="/deployments/$name" params={{ name }} search={{ view: 'replays' }}
      className={buttonClass('quiet', true, true)} aria-label={`Replays of ${name}`}
      title={`Replays of ${name}`}
    >
      <Icon name="back" />
    </Link>
  )
}

function Acts({ name, progress: { replay: { id, phase, experiment } } }: {
  readonly name: string
  readonly progress: ReplayProgress
}) {
  return (
    <>
      {experiment !== null && (
        <a className={buttonClass()} href={`${studioOf(name).href}traces/${experiment}`}>
          Experiment
        </a>
      )}
      {phase === 'running' && <CancelReplay name={name} id={id} />}
    </>
  )
}

function Facts({ progress }: { readonly progress: ReplayProgress }) {
  const { replay, diverged_percent: percent, usage } = progress
  const { tokens, cost } = usageText(usage)
  const { deployment, by, passed, controlled, started_at: began, ended_at: ended } = replay
  return (
    <dl className={css['facts']}>
      <Fact name="Deployment">{deployment}</Fact>
      <Fact name="Started">
        <Moment iso={began} />, by {by}
        {ended !== null && `, took ${duration(Date.parse(ended) - Date.parse(began))}`}
      </Fact>
      <Fact name="Runs">
        {progressText(progress)}
        {passed > 0 && `, ${count(passed)} passed over`}
      </Fact>
      <Fact name="Control">{controlled ? 'the recorded revision first' : 'none'}</Fact>
      <Fact name="Diverged or failed">
        {percent === null ? '–' : <b>{Number(percent.toFixed(1))} %</b>}
      </Fact>
      {tokens !== null && <Fact name="Tokens">{tokens}</Fact>}
      {cost !== null && <Fact name="Cost">{cost}</Fact>}
    </dl>
  )
}

function Fact({ name, children }: {
  readonly name: string
  readonly children: ReactNode
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Body({ name, progress }: {
  readonly name: string
  readonly progress: ReplayProgress
}) {
  const { replay, done, groups } = progress
  const { id, phase, runs, reason, passed } = replay
  const search = useSearch({ from: '/deployments/$name/replays/$id' })
  const navigate = useNavigate()
  const set = (part: ReplaySearch) =>
    void navigate({ to: '/deployments/$name/replays/$id', params: { name, id },
      search: { ...search, ...part } })
  const { data: all, error, refetch } = useQuery(replayedRuns(name, id, phase))
  const shown = search.run === undefined
    ? undefined
    : all?.find(({ run_id: run }) => run === search.run)
  if (shown !== undefined) {
    return (
      <div className="page">
        <RunDifference name={name} run={shown} revision={replay.revision} close={() =>
          set({ run: undefined })} />
      </div>
    )
  }
  return (
    <div className="page">
      {phase === 'running' && (
        <progress max={runs ?? undefined} value={runs === null ? undefined : done}
          aria-label="Progress of the replay" />
      )}
      {reason !== null && <Notice tone="failed">{reason}</Notice>}
      {search.run !== undefined && all !== undefined && (
        <Notice>This replay has no verdict on the run {search.run}.</Notice>
      )}
      {runs === 0
        ? <NoRuns passed={passed} />
        : (
          <>
            <VerdictBar progress={progress} />
            <Verdicts progress={progress} search={search} set={set} />
            {groups.length > 0 && all !== undefined && (
              <DifferenceGroups groups={groups} runs={all} chosen={search.group} choose={(group) =>
                set({ group, verdict: undefined })} />
            )}
            {all !== undefined
              ? (
                <ReplayedRunTable name={name} id={id} runs={chosenRuns(all, search)}
                  search={search} />
              )
              : error === null
              ? <Skeleton width="100%" height={160} />
              : <ErrorNotice error={error} retry={() => void refetch()} />}
          </>
        )}
    </div>
  )
}

function NoRuns({ passed }: { readonly passed: number }) {
  return (
    <Empty title="No run is recorded">
      <p>
        {count(passed)} were looked at. Runs are recorded if langgraph.json says so:{' '}
        <code>{'"heddle": {"record": "all"}'}</code>
      </p>
    </Empty>
  )
}

function Verdicts({ progress, search, set }: {
  readonly progress: ReplayProgress
  readonly search: ReplaySearch
  readonly set: (part: ReplaySearch) => void
}) {
  return (
    <div className={`${filter['states']} wraps`} role="group" aria-label="Verdicts">
      {verdicts.map((verdict) => (
        <button key={verdict} type="button" aria-pressed={search.verdict === verdict}
          title={verdictWords[verdict].means}
          onClick={() =>
            set({ verdict: search.verdict === verdict ? undefined : verdict, group: undefined })}
        >
          {verdictWords[verdict].word}
          <span className={filter['count']}>{count(progress.verdicts[verdict])}</span>
        </button>
      ))}
    </div>
  )
}
