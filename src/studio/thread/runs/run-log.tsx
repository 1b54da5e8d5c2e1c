/** Lines that the code of a graph wrote to the console and to its logger during a run. */

import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'

import { logsOf } from '../../api/run-details.ts'
import type { LogLine } from '../../api/run-details.ts'
import { isOver } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { counted } from '../../parts/amounts.ts'
import { Empty } from '../../parts/empty.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import css from './runs.module.css'

/** A log of a run that goes on is read again so often, while somebody looks. */
const againMs = 2_000

/** Log of a run, asked for again until the run is over. */
export function RunLog({ threadId, run }: { readonly threadId: string; readonly run: Run }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['threads', threadId, 'runs', run.run_id, 'logs', run.status],
    queryFn: ({ signal }) => logsOf(threadId, run.run_id, undefined, signal),
    refetchInterval: isOver(run) ? false : againMs,
  })
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <p className={css['meta']}>The log is being read.</p>
  if (data.lines.length === 0) {
    return (
      <Empty title="Nothing logged">
        <p>
          Lines of the console and of getLogger() stand here. They are kept in memory, by the server
          that owns the thread.
        </p>
      </Empty>
    )
  }
  return <Lines lines={data.lines} dropped={data.dropped} />
}

function Lines({ lines, dropped }: {
  readonly lines: readonly LogLine[]
  readonly dropped: number
}) {
  const box = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({ count: lines.length, getScrollElement: () => box.current,
    estimateSize: () => 20, overscan: 10, getItemKey: (at) => lines[at]!.seq, useFlushSync: false })
  return (
    <>
      {dropped > 0 && <p className={css['meta']}>{`${counted(dropped, 'older line')} not kept.`}
      </p>}
      <div ref={box} className={css['log']} role="log" aria-label="Log of the run" tabIndex={0}>
        <div role="presentation" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ key, index, start }) => {
            const { time, level, text, node, attempt } = lines[index]!
            return (
              <div key={key} ref={list.measureElement} data-index={index} className={css['line']}
                style={{ transform: `translateY(${start}px)` }}
              >
                <time dateTime={time}>{time.slice(11, 23)}</time>
                <span className={`${css['level']} ${css[level]}`}>{level}</span>
                {node !== undefined && <span className={css['meta']}>{node}</span>}
                {attempt > 1 && <span className={css['meta']}>{`attempt ${attempt}`}</span>}
                <span className={css['text']} dir="auto">{text}</span>
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}
