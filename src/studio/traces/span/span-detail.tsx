/** All that is known of a span. It is asked for when the span is chosen, with its payloads. */

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { sharedSpanQuery } from '../../api/platform/shares.ts'
import { spanQuery } from '../../api/platform/traces.ts'
import type { Span, SpanPlace } from '../../api/platform/traces.ts'
import { count, duration } from '../../parts/amounts.ts'
import { Chip } from '../../parts/chip.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { JsonTree } from '../../json/json-tree.tsx'
import { ErrorNotice, Notice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StatusChip } from '../../parts/status.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { FeedbackList } from '../feedback/feedback-list.tsx'
import { OwnRunLinks } from './own-run-links.tsx'
import css from './span-detail.module.css'
import { SpanPayload } from './span-payload.tsx'
import { costWords, tokenWords } from './token-words.ts'
import { microseconds, tickWords } from '../waterfall/time-axis.ts'
import { dollars, spanStatus } from '../../parts/trace-words.ts'

/** A span, by its id. */
export function SpanDetail({ hasDatasetAct = true, ...place }: SpanPlace & {
  /** False where the page has its own way to add the span to a dataset. */
  readonly hasDatasetAct?: boolean
}) {
  const found = useQuery(spanQuery(place))
  return (
    <SpanFound {...found} refetch={() => void found.refetch()}>
      {(span) => <OwnRunLinks span={span} hasDatasetAct={hasDatasetAct} />}
    </SpanFound>
  )
}

/** A span of a trace that is shared: what only its owner may see is not asked for. */
export function SharedSpan({ token, spanId }: { readonly token: string; readonly spanId: string }) {
  const found = useQuery(sharedSpanQuery(token, spanId))
  return <SpanFound {...found} refetch={() => void found.refetch()} />
}

function SpanFound({ data: span, isError, error, refetch, children: acts }: {
  readonly data: Span | null | undefined
  readonly isError: boolean
  readonly error: unknown
  readonly refetch: () => void
  /** Actions of the owner of the span; none for a span that is shared. */
  readonly children?: (span: Span) => ReactNode
}) {
  if (span === null || (isError && span === undefined)) {
    return (
      <div className={css['detail']}>
        {span === null
          ? <Notice>This span is not there. It may have been deleted.</Notice>
          : <ErrorNotice error={error} retry={refetch} />}
      </div>
    )
  }
  if (span === undefined) {
    return (
      <div className={css['detail']} aria-busy="true">
        <Skeleton width={180} height={20} />
        <Skeleton width={260} />
        <Skeleton width="100%" height={120} />
      </div>
    )
  }
  return (
    <div className={css['detail']} key={span.id} tabIndex={0} role="region" aria-label="Span">
      <Head span={span}>{acts?.(span)}</Head>
      {span.error !== null && <ErrorText text={span.error} />}
      {acts !== undefined && <FeedbackList runId={span.id} traceId={span.trace_id} />}
      <SpanPayload title="Input" value={span.inputs} />
      <SpanPayload title="Output" value={span.outputs} />
      <Events span={span} />
      {hasMembers(span.metadata) && (
        <section>
          <h3>Metadata</h3>
          <JsonTree value={span.metadata} name="metadata" />
        </section>
      )}
      {hasMembers(span.attachments) && (
        <section>
          <h3>Attachments</h3>
          <ul className={css['files']}>
            {Object.entries(span.attachments as Readonly<Record<string, string>>).map((
              [name, url],
            ) => (
              <li key={name}>
                <a href={url} download={name} dir="auto">{name}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Head({ span, children }: { readonly span: Span; readonly children: ReactNode }) {
  const [start, end, first] = [span.start_time, span.end_time, span.first_token_time]
    .map(microseconds)
  return (
    <header className={css['head']}>
      <div className={css['title']}>
        <h2 dir="auto" title={span.name}>{span.name}</h2>
        <Chip>{span.run_type.toLowerCase()}</Chip>
        <StatusChip status={spanStatus(span.status)} />
        <CopyButton text={span.id} label="Copy the id of the span" />
      </div>
      <dl className={css['facts']}>
        {start && end ? <Fact name="Duration">{duration((end - start) / 1_000)}</Fact> : null}
        {span.start_time !== null && (
          <Fact name="Began">
            <TimeText iso={span.start_time} />
          </Fact>
        )}
        {start && first
          ? <Fact name="First token">{duration((first - start) / 1_000)}</Fact>
          : null}
        {span.total_tokens
          ? (
            <Fact name="Tokens">
              {count(span.total_tokens)} <small>{tokenWords(span)}</small>
            </Fact>
          )
          : null}
        {span.total_cost
          ? (
            <Fact name="Cost">
              {dollars(span.total_cost)} <small>{costWords(span)}</small>
            </Fact>
          )
          : null}
        {span.reference_example_id !== null && (
          <Fact name="Example">{span.reference_example_id}</Fact>
        )}
      </dl>
      {span.tags !== null && span.tags.length > 0 && (
        <ul className={css['tags']} aria-label="Tags">
          {span.tags.map((tag) => (
            <li key={tag}>
              <Chip title={tag}>{tag}</Chip>
            </li>
          ))}
        </ul>
      )}
      {children}
    </header>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Errors of most libraries are a message and the way of the program to it. */
function ErrorText({ text }: { readonly text: string }) {
  const [message, ...rest] = text.split('\n')
  return (
    <div className={css['error']} role="note" aria-label="Error">
      <p dir="auto">{message}</p>
      {rest.length > 0 && (
        <details>
          <summary>Where it happened</summary>
          <pre>{rest.join('\n')}</pre>
        </details>
      )}
    </div>
  )
}

/** Events that are shown; a model may have sent thousands of tokens. */
const eventsShown = 50

function Events({ span }: { readonly span: Span }) {
  const events = span.events ?? []
  const start = microseconds(span.start_time)
  if (events.length === 0) return null
  return (
    <section>
      <h3>Events</h3>
      <ol className={css['events']}>
        {events.slice(0, eventsShown).map((event, at) => {
          const { name, time, ...more } = event
          const us = microseconds(typeof time === 'string' ? time : null)
          return (
            <li key={at}>
              <span>{us === null || start === null ? '–' : `+${tickWords(us - start)}`}</span>
              <span dir="auto">{String(name ?? 'event')}</span>
              {Object.keys(more).length > 0 && <JsonTree value={more} name="more" open={0} />}
            </li>
          )
        })}
      </ol>
      {events.length > eventsShown && (
        <p className={css['quiet']}>And {count(events.length - eventsShown)} more.</p>
      )}
    </section>
  )
}

const hasMembers = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0
