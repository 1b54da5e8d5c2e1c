/** The crons in a table: schedule, assistant, next and newest run, state. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { assistantList } from '../api/assistants.ts'
import { serverInfo } from '../api/server.ts'
import { shortId } from '../api/thread-names.ts'
import { Chip } from '../parts/chip.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { Moment, TimeUntil } from '../parts/times/time-text.tsx'
import { CronActs } from './cron-acts.tsx'
import { lastRuns, tracesOfRuns } from './cron-calls.ts'
import type { Cron } from './cron-calls.ts'
import css from './crons.module.css'
import { LastRun } from './last-run.tsx'
import { scheduleWords } from './schedule-words.ts'

/** Pages of crons. Each asks for its newest runs at once. */
export function CronTable({ pages, refusal, edit }: {
  readonly pages: readonly (readonly Cron[])[]
  readonly refusal: string | undefined
  readonly edit: (id: string) => void
}) {
  return (
    <Table className={css['table']} caption="Crons, the newest first"
      columns={['Schedule', 'Assistant', 'Next run', 'Last run', 'State']}
    >
      {pages.map((crons, at) => <CronRows key={at} crons={crons} refusal={refusal} edit={edit} />)}
    </Table>
  )
}

function CronRows({ crons, refusal, edit }: {
  readonly crons: readonly Cron[]
  readonly refusal: string | undefined
  readonly edit: (id: string) => void
}) {
  const { data: last } = useQuery(lastRuns(crons.map(({ cron_id: id }) => id)))
  const { data: info } = useQuery(serverInfo)
  const gone = (last ?? []).flatMap(({ run_id: run, status }) =>
    run !== null && status === null ? [run] : []
  )
  const { data: traced } = useQuery({ ...tracesOfRuns(gone),
    enabled: gone.length > 0 && info?.features?.traces !== false })
  const { data: assistants } = useQuery(assistantList)
  return crons.map((cron) => {
    const newest = last?.find(({ cron_id: id }) => id === cron.cron_id)
    const assistant = assistants?.find(({ assistant_id: id }) => id === cron.assistant_id)
    return (
      <CronRow key={cron.cron_id} cron={cron} refusal={refusal} edit={() => edit(cron.cron_id)}
        assistant={assistant?.name || shortId(cron.assistant_id)} last={last === undefined
        ? <Skeleton width={80} />
        : <LastRun last={newest} traced={traced?.get(newest?.run_id ?? '')} />} />
    )
  })
}

function CronRow({ cron, assistant, last, refusal, edit }: {
  readonly cron: Cron
  readonly assistant: string
  readonly last: React.ReactNode
  readonly refusal: string | undefined
  readonly edit: () => void
}) {
  const { schedule, timezone, thread_id: thread, next_run_date: next, end_time: end } = cron
  const words = scheduleWords(schedule)
  return (
    <tr>
      <th scope="row">
        {words ?? <code>{schedule}</code>}
        <small>
          {words !== undefined && <code>{schedule}</code>} {timezone ?? 'UTC'}
        </small>
        {end !== null && (
          <small>
            until <Moment iso={end} />
          </small>
        )}
      </th>
      <td data-label="Assistant">
        <Link to="/assistants" search={{ id: cron.assistant_id }} className={css['assistant']}
          dir="auto" title={assistant} preload={false}
        >
          {assistant}
        </Link>
        <small>
          {thread === null
            ? 'a new thread each time'
            : (
              <Link to="/threads/$id" params={{ id: thread }} search={{}} preload={false}
                className={css['link']}
              >
                thread <code>{shortId(thread)}</code>
              </Link>
            )}
        </small>
      </td>
      <td data-label="Next run">
        {next === null ? '–' : (
          <>
            <TimeUntil iso={next} />
            <small>
              <Moment iso={next} />
            </small>
          </>
        )}
      </td>
      <td data-label="Last run">{last}</td>
      <td data-label="State">
        <StateOf cron={cron} />
      </td>
      <td className={cellClass.acts}>
        <CronActs cron={cron} name={words ?? schedule} refusal={refusal} edit={edit} />
      </td>
    </tr>
  )
}

function StateOf({ cron: { enabled, next_run_date: next } }: { readonly cron: Cron }) {
  if (!enabled) return <Chip>Paused</Chip>
  return next === null ? <Chip>Ended</Chip> : <Chip tone="done">On</Chip>
}
