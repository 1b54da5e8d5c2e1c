/** Notices in place of rows that are not there yet, and below them if more cannot be read. */

import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './row-notice.module.css'

/** Outcome of reading a list: an error or none, and a way to read again. */
export interface ReadRows {
  readonly isError: boolean
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Before the first rows are there. */
export function RowsPending({ pages: { isError, error, refetch } }: { readonly pages: ReadRows }) {
  return (
    <div className={css['notice']} aria-busy={!isError}>
      {isError
        ? <ErrorNotice error={error} retry={() => void refetch()} />
        : <Skeleton width="50%" height={14} />}
    </div>
  )
}

/** Nothing, unless the next page could not be read. */
export function NextPageNotice({ pages: { isFetchNextPageError, error, fetchNextPage } }: {
  readonly pages: Pick<ReadRows, 'error'> & { readonly isFetchNextPageError: boolean;
    readonly fetchNextPage: () => unknown }
}) {
  return isFetchNextPageError && (
    <div className={css['notice']}>
      <ErrorNotice error={error} retry={() => void fetchNextPage()} />
    </div>
  )
}
