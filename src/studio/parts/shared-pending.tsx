/** A page that a link opens, until what it shows is there. */

import type { UseQueryResult } from '@tanstack/react-query'

import { ApiError } from '../api/client.ts'
import { Empty } from './empty.tsx'
import { Mark } from './icon.tsx'
import { ErrorNotice } from './notice.tsx'
import css from './shared-pending.module.css'
import { Skeleton } from './skeleton.tsx'

/** The page. `isGone`: the answer says that nothing is left of it. */
export function SharedPending({ title, query, isGone = false }: {
  readonly title: string
  readonly query: Pick<UseQueryResult, 'error' | 'isError' | 'refetch'>
  readonly isGone?: boolean
}) {
  const { error, isError, refetch } = query
  if (isGone || (error instanceof ApiError && error.status === 404)) {
    return (
      <Empty title="This link leads nowhere" isPage>
        <p>It was taken back, or what it showed is gone.</p>
      </Empty>
    )
  }
  return (
    <>
      <header className={css['head']}>
        <Mark />
        <h1>{title}</h1>
      </header>
      <div className={css['notice']}>
        {isError
          ? <ErrorNotice error={error} retry={() => void refetch()} />
          : <Skeleton width="60%" />}
      </div>
    </>
  )
}
