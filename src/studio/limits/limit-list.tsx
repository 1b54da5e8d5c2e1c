/** The limits and quotas of the caller or of a key, as gauges. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { onLimit } from '../api/client.ts'
import { limitsOf } from '../api/limits.ts'
import type { Limits } from '../api/limits.ts'
import { queries } from '../api/query.ts'
import { elapsedMs } from '../env.ts'
import { counted, count, size } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { LimitGauge } from './limit-gauge.tsx'
import { byUse, nearnessOf, withHeaders, withSamples } from './limit-use.ts'
import type { UseHistory } from './limit-use.ts'
import css from './limits.module.css'

/** List of the limits of a key or the caller, with their use. */
export function LimitList() {
  const { key } = useSearch({ from: '/limits' })
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(limitsOf(key))
  const history = useHistory(data)
  useHeaders(key)
  return (
    <>
      {key !== undefined && (
        <div className={css['ofKey']}>
          <span>
            The limits of key <code>{key}</code>
          </span>
          <Button small onClick={() => void navigate({ to: '/limits', search: {} })}>
            Show my own
          </Button>
        </div>
      )}
      {error !== null && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data !== undefined
        ? (
          <>
            <Rows limits={data} history={history} />
            <Quotas limits={data} />
          </>
        )
        : error === null && <Waiting />}
    </>
  )
}

function Rows({ limits: { rows, enabled }, history }: {
  readonly limits: Limits
  readonly history: UseHistory
}) {
  const { used, others } = byUse(rows)
  if (!enabled) {
    return (
      <Notice>
        <p>Requests are not charged to limits here.</p>
        <p className={css['meta']}>
          With{' '}
          <code>--limits on</code>, each caller may send so many requests in a time, and is answered
          429 with the time to wait beyond that.
        </p>
      </Notice>
    )
  }
  return (
    <>
      <section className={css['section']} aria-label="Limits in use">
        <h2>In use</h2>
        {used.length === 0 && <p className={css['meta']}>Nothing is used at the moment.</p>}
        <ul className={css['rows']}>
          {used.map((row) => (
            <LimitGauge key={row.id} row={row} samples={history.get(row.id) ?? []} />
          ))}
        </ul>
      </section>
      <details className={css['others']}>
        <summary>{counted(others.length, 'other limit')} of which nothing is used</summary>
        <ul className={css['rows']}>
          {others.map((row) => <LimitGauge key={row.id} row={row} samples={[]} />)}
        </ul>
      </details>
    </>
  )
}

function Quotas({ limits: { quotas } }: { readonly limits: Limits }) {
  const text = (name: string, value: number) => name === 'stored_bytes' ? size(value) : count(value)
  return (
    <section className={css['section']} aria-label="Quotas">
      <h2>Quotas of the tenant</h2>
      <dl className={css['quotas']}>
        {quotas.map(({ name, words, limit, used }) => (
          <div key={name} className={limit === null ? '' : css[nearnessOf(used, limit)]}>
            <dt>{words}</dt>
            <dd>
              <b>{text(name, used)}</b>
              <span>{limit === null ? 'no limit' : `of ${text(name, limit)}`}</span>
              <span className={css['bar']}>
                <i style={{ width: `${Math.min(100, 100 * used / (limit ?? Infinity))}%` }} />
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** The use of the last minute, since the page looks. */
function useHistory(data: Limits | undefined): UseHistory {
  const [history, setHistory] = useState<UseHistory>(new Map())
  useEffect(() => {
    if (data !== undefined) setHistory((before) => withSamples(before, data.rows, elapsedMs()))
  }, [data])
  return history
}

/** Each answer to this page says what is left of the limit that it was charged to. */
function useHeaders(key: string | undefined): void {
  const shown = useRef(key)
  shown.current = key
  useEffect(() =>
    onLimit((seen) => {
      if (shown.current !== undefined) return
      queries.setQueryData(limitsOf(undefined).queryKey,
        (before) => before && withHeaders(before, seen))
    }), [])
}

function Waiting() {
  return (
    <div className={css['section']} aria-busy="true" aria-label="Loading">
      {[0, 1, 2].map((each) => <Skeleton key={each} width="100%" height={44} />)}
    </div>
  )
}
