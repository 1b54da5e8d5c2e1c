/** One recorded call: its request and its answer, side by side. */

import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { bodiesOf } from '../../api/platform/run-calls.ts'
import type { RunCall, RunCallBody } from '../../api/platform/run-calls.ts'
import { JsonTree } from '../../json/json-tree.tsx'
import { counted, duration, size } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { endWords, isFailed } from './call-words.ts'
import css from './calls.module.css'

/** Characters of a text that are shown; all of it can be copied. */
const shownMax = 200_000

/** A call in full. */
export function CallBodies({ threadId, runId, call, close }: {
  readonly threadId: string
  readonly runId: string
  readonly call: RunCall
  readonly close: () => void
}) {
  const { data, error, refetch } = useQuery({
    queryKey: ['threads', threadId, 'runs', runId, 'calls', call.no, call.started_at],
    queryFn: ({ signal }) => bodiesOf(threadId, runId, call.no, signal),
    staleTime: Infinity,
  })
  const details = [call.site?.nodes.join(' › '), duration(call.ms),
    call.head_ms === null ? '' : `first byte after ${duration(call.head_ms)}`,
    call.failure?.message]
  return (
    <section className={css['call']} aria-label="Chosen call">
      <header className={css['head']}>
        <Button small kind="quiet" onClick={close}>All calls</Button>
        <Chip tone={isFailed(call) ? 'failed' : 'plain'}>{endWords(call)}</Chip>
        <code className={css['address']} title={call.url}>{`${call.method} ${call.url}`}</code>
        <CopyButton text={call.url} label="Copy the address" />
      </header>
      <p className={css['note']}>{details.filter(Boolean).join(' · ')}</p>
      {error !== null && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data !== undefined && (
        <div className={css['bodies']}>
          <Body title="Request" body={data.request} />
          <Body title="Answer" body={data.answer} />
        </div>
      )}
    </section>
  )
}

function Body({ title, body }: { readonly title: string; readonly body: RunCallBody }) {
  const value = useMemo(() => jsonIn(body), [body])
  const parts = body.chunks > 1 ? ` · ${counted(body.chunks, 'part')}` : ''
  return (
    <section className={css['body']} aria-label={title}>
      <header>
        <h3>{title}</h3>
        <span className={css['note']}>{size(body.bytes) + parts}</span>
        {body.text !== '' && (
          <CopyButton text={body.text} label={`Copy the ${title.toLowerCase()}`} />
        )}
      </header>
      {body.is_cut
        ? (
          <p className={css['note']}>
            Too large to be kept.
          </p>
        )
        : body.bytes === 0
        ? <p className={css['note']}>Empty</p>
        : value === undefined
        ? <pre tabIndex={0} dir="auto">{body.text.slice(0, shownMax)}</pre>
        : <JsonTree value={value} name={title.toLowerCase()} open={3} fill />}
    </section>
  )
}

/** The value of a body that is JSON; undefined for any other. */
function jsonIn({ encoding, text }: RunCallBody): unknown {
  if (encoding !== 'utf8' || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
