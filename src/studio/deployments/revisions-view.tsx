/** The revisions of a deployment, and the roll-out that moves between them. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'

import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { revisionList } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { RevisionTable } from './revision-table.tsx'
import { LastRollout, LiveRollout } from './rollout-card.tsx'

const ActivateDialog = lazy(async () => ({
  default: (await import('./activate-dialog.tsx')).ActivateDialog,
}))
const RevisionDrawer = lazy(async () => ({
  default: (await import('./revision-drawer.tsx')).RevisionDrawer,
}))

/** Revisions of a deployment, with the roll-out that is under way or was last. */
export function RevisionsView({ deployment }: { readonly deployment: Deployment }) {
  const { name, rollout, last_rollout: last } = deployment
  const { revision: shown } = useSearch({ from: '/deployments/$name' })
  const navigate = useNavigate()
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    revisionList(name),
  )
  const [activating, setActivating] = useState<string>()
  const show = (revision: string | undefined) =>
    void navigate({ to: '/deployments/$name', params: { name }, search: { revision } })
  const revisions = data?.pages.flat()
  return (
    <div className="page">
      {rollout !== null
        ? <LiveRollout rollout={rollout} />
        : last !== null && <LastRollout outcome={last} />}
      {error !== null && revisions === undefined
        ? <ErrorNotice error={error} retry={() => void refetch()} />
        : revisions === undefined
        ? <Skeleton width="100%" height={160} />
        : revisions.length === 0
        ? (
          <Empty title="No revisions yet">
            <p>
              In the project’s folder type <code>heddle deploy {name}</code>
            </p>
          </Empty>
        )
        : (
          <RevisionTable deployment={deployment} revisions={revisions} activate={setActivating}
            show={show} />
        )}
      {hasNextPage && (
        <Button className={css['more']} disabled={isFetchingNextPage} onClick={() =>
          void fetchNextPage()}
        >
          Older revisions
        </Button>
      )}
      <Suspense>
        {activating !== undefined && (
          <ActivateDialog deployment={deployment} revision={activating} close={() =>
            setActivating(undefined)} />
        )}
        {shown !== undefined && activating === undefined && (
          <RevisionDrawer deployment={deployment} revision={shown} activate={setActivating}
            close={() => show(undefined)} />
        )}
      </Suspense>
    </div>
  )
}
