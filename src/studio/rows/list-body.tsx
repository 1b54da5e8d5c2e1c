/** The body of a list page whose rows are a table: the rows, or what stands in their place. */

import type { ReactNode } from 'react'

import { Button } from '../parts/button.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import type { ReadRows } from './row-notice.tsx'
import type { RowPages } from './rows-ahead.ts'

/** A list that is read, as a whole or page by page. */
export interface ReadList<Data> extends ReadRows, Partial<RowPages> {
  readonly data: Data | undefined
}

/** The body. `fault` stands in place of the usual notice of a list that could not be read. */
export function ListBody<Data>({ list, isEmpty, empty, fault, children }: {
  readonly list: ReadList<Data>
  readonly isEmpty: (data: Data) => boolean
  readonly empty: ReactNode
  readonly fault?: ReactNode
  readonly children: (data: Data) => ReactNode
}) {
  const { data, isError, error, refetch, hasNextPage, isFetching, fetchNextPage } = list
  return (
    <div className="page">
      {data !== undefined
        ? isEmpty(data) ? empty : children(data)
        : isError
        ? fault ?? <ErrorNotice error={error} retry={() => void refetch()} />
        : <Skeleton width="100%" height={160} />}
      {hasNextPage && (
        <div>
          <Button disabled={isFetching} onClick={() => void fetchNextPage?.()}>
            {isFetching ? 'Loading …' : 'Show more'}
          </Button>
        </div>
      )}
      {list.isFetchNextPageError && <ErrorNotice error={error} />}
    </div>
  )
}
