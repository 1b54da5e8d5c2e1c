/** Outgoing calls that were recorded of a run: by host, one by one, and their bodies. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { callsOf } from '../../api/platform/run-calls.ts'
import type { RunCall } from '../../api/platform/run-calls.ts'
import { isOver } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { count, counted, duration, size } from '../../parts/amounts.ts'
import { Chip } from '../../parts/chip.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { cellClass, Table } from '../../parts/table.tsx'
import { CallBodies } from './call-bodies.tsx'
import { endWords, hostOf, isFailed, pathOf, sumsOf } from './call-words.ts'
import type { HostSum } from './call-words.ts'
import css from './calls.module.css'

/** Calls of a run that goes on are read again so often, while somebody looks. */
const againMs = 3_000
/** Calls that are shown at first. */
const shownMax = 200

/** Calls of a run, asked for again until the run is over. */
export function RunCalls({ threadId, run }: { readonly threadId: string; readonly run: Run }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['threads', threadId, 'runs', run.run_id, 'calls', run.status],
    queryFn: ({ signal }) => callsOf(threadId, run.run_id, signal),
    refetchInterval: isOver(run) ? false : againMs,
  })
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <p className={css['note']}>The calls are being read.</p>
  if (data.calls.length === 0) {
    return (
      <Empty title="No calls recorded">
        <p>
          Each HTTP call of a run stands here if langgraph.json says so:{' '}
          <code>{'"heddle": {"record": "all"}'}</code>
        </p>
      </Empty>
    )
  }
  return <Calls {...{ threadId, runId: run.run_id, calls: data.calls, isCut: data.is_cut }} />
}

function Calls({ threadId, runId, calls, isCut }: {
  readonly threadId: string
  readonly runId: string
  readonly calls: readonly RunCall[]
  readonly isCut: boolean
}) {
  const [chosen, setChosen] = useState<number>()
  const [shown, setShown] = useState(shownMax)
  const call = chosen === undefined ? undefined : calls[chosen]
  if (call !== undefined) {
    return <CallBodies {...{ threadId, runId, call }} close={() => setChosen(undefined)} />
  }
  return (
    <div className={css['calls']} role="region" aria-label="Calls" tabIndex={0}>
      {isCut && (
        <p className={css['note']}>
          <Chip tone="waiting">Cut</Chip> Some calls or bodies were too large or came too late.
        </p>
      )}
      <Hosts sums={sumsOf(calls)} />
      <ol className={css['list']}>
        {calls.slice(0, shown).map((each) => (
          <li key={each.no}>
            <button type="button" className={css['row']} onClick={() => setChosen(each.no)}>
              <CallRow call={each} />
            </button>
          </li>
        ))}
      </ol>
      {calls.length > shown && (
        <button type="button" className={css['row']} onClick={() => setShown(calls.length)}>
          {`Show ${counted(calls.length - shown, 'more call')}`}
        </button>
      )}
    </div>
  )
}

function Hosts({ sums }: { readonly sums: readonly HostSum[] }) {
  return (
    <Table caption="Calls by host" hasActs={false} className={css['hosts']}
      columns={['Host', { number: 'Calls' }, { number: 'Sent' }, { number: 'Got' }, {
        number: 'Time',
      }, { number: 'Again', title: 'Calls that repeat one which had failed' }]}
    >
      {sums.map(({ host, calls, sentBytes, gotBytes, ms, retries }) => (
        <tr key={host}>
          <th scope="row">{host}</th>
          <td data-label="Calls" className={cellClass.number}>{count(calls)}</td>
          <td data-label="Sent" className={cellClass.number}>{size(sentBytes)}</td>
          <td data-label="Got" className={cellClass.number}>{size(gotBytes)}</td>
          <td data-label="Time" className={cellClass.number}>{duration(ms)}</td>
          <td data-label="Again" className={cellClass.number}>{count(retries)}</td>
        </tr>
      ))}
    </Table>
  )
}

function CallRow({ call }: { readonly call: RunCall }) {
  return (
    <>
      <span className={css['method']}>{call.method}</span>
      <span className={css['address']} title={call.url}>
        {pathOf(call.url)} <small>{hostOf(call.url)}</small>
      </span>
      {call.is_cut && <Chip tone="waiting">cut</Chip>}
      <Chip tone={isFailed(call) ? 'failed' : 'plain'}>{endWords(call)}</Chip>
      <span className={css['node']}>{call.site?.nodes.join(' › ') ?? ''}</span>
      <span className={css['number']}>{size(call.answer_bytes)}</span>
      <span className={css['number']}>{duration(call.ms)}</span>
    </>
  )
}
