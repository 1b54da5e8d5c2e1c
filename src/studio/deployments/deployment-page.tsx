/** A deployment: its revisions and roll-outs, replays, logs, secrets and events. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import { buttonClass } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Tabs } from '../parts/tabs.tsx'
import type { DeploymentSearch } from '../addresses/deployments.ts'
import { deploymentQuery } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import { DeploymentActs } from './deployment-acts.tsx'
import { DeploymentFacts } from './deployment-facts.tsx'
import { DeploymentMarks } from './deployment-marks.tsx'
import css from './parts/deployments.module.css'
import { Refused } from './parts/refused.tsx'
import { RevisionsView } from './revisions-view.tsx'
import { useEvents } from './use-events.ts'

const ReplaysView = lazy(async () => ({
  default: (await import('./replays/replays-view.tsx')).ReplaysView,
}))
const LogsView = lazy(async () => ({ default: (await import('./logs/logs-view.tsx')).LogsView }))
const SecretsView = lazy(async () => ({
  default: (await import('./secrets/secrets-view.tsx')).SecretsView,
}))
const EventsView = lazy(async () => ({ default: (await import('./events-view.tsx')).EventsView }))

const tabs = [
  { id: 'revisions', label: 'Revisions' },
  { id: 'replays', label: 'Replays' },
  { id: 'logs', label: 'Logs' },
  { id: 'secrets', label: 'Secrets' },
  { id: 'events', label: 'Events' },
] as const

/** Page of one deployment: revisions, replays, logs, secrets and events. */
export function DeploymentPage() {
  const { name } = useParams({ from: '/deployments/$name' })
  return <Whole key={name} name={name} />
}

function Whole({ name }: { readonly name: string }) {
  const { view = 'revisions' } = useSearch({ from: '/deployments/$name' })
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery(deploymentQuery(name))
  const followed = useEvents(name)
  const choose = (id: typeof tabs[number]['id']) =>
    void navigate({ to: '/deployments/$name', params: { name },
      search: (id === 'revisions' ? {} : { view: id }) satisfies DeploymentSearch })
  return (
    <>
      <PageHead title={name} before={<Back />} aside={data && <DeploymentMarks deployment={data} />}
        acts={data && <DeploymentActs deployment={data} />}
      >
        {data && <DeploymentFacts deployment={data} isBrief={view !== 'revisions'} />}
        {data && (
          <div className={css['tabs']}>
            <Tabs name="deployment" label="Parts of the deployment" tabs={tabs} chosen={view}
              choose={choose} />
          </div>
        )}
      </PageHead>
      {data === undefined
        ? (
          <div className="page">
            {error === null
              ? <Skeleton width="100%" height={200} />
              : <Refused error={error} retry={() => void refetch()} />}
          </div>
        )
        : (
          <div className={css['panel']} id="deployment-panel" role="tabpanel"
            aria-labelledby={`deployment-${view}`}
          >
            {data.problems !== undefined && data.problems.length > 0 && (
              <div className={css['notice']}>
                <Problems problems={data.problems} />
              </div>
            )}
            {followed.away !== undefined && (
              <div className={css['notice']}>
                <Notice tone="waiting">
                  The connection for events is lost. What you see may be old; it is tried again.
                </Notice>
              </div>
            )}
            <Suspense fallback={<Skeleton width="100%" height={200} />}>
              {view === 'replays'
                ? <ReplaysView deployment={data} />
                : view === 'logs'
                ? <LogsView deployment={data} />
                : view === 'secrets'
                ? <SecretsView deployment={data} />
                : view === 'events'
                ? <EventsView followed={followed} />
                : <RevisionsView deployment={data} />}
            </Suspense>
          </div>
        )}
    </>
  )
}

/** Members that have loaded the same in vain say the same. */
function Problems({ problems }: { readonly problems: Deployment['problems'] }) {
  const reasons = new Map(problems.map(({ revision, reason }) => [`${revision}: ${reason}`, 0]))
  return (
    <Notice tone="failed">
      <p>A member cannot load what new runs take. They end with the reason until it can.</p>
      {[...reasons.keys()].map((reason) => <p key={reason}>{reason}</p>)}
    </Notice>
  )
}

function Back() {
  return (
    <Link to="/deployments" className={buttonClass('quiet', true, true)}
      aria-label="All deployments" title="All deployments"
    >
      <Icon name="back" />
    </Link>
  )
}
