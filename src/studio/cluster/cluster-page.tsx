/** The cluster: its members, its shards, and what happened since the page was opened. */

import { useNavigate, useSearch } from '@tanstack/react-router'

import { ApiError } from '../api/client.ts'
import { count, counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { useKeys } from '../parts/keys.ts'
import { ownerless, shortId } from './cluster-state.ts'
import type { ClusterState } from './cluster-state.ts'
import css from './cluster.module.css'
import { MemberCard } from './member-card.tsx'
import { RegionFacts } from './region-facts.tsx'
import { ShardMap } from './shard-map.tsx'
import { Story } from './story.tsx'
import { useCluster } from './use-cluster.ts'

/** Page of the cluster: its members, its shards and their story. */
export function ClusterPage() {
  const { state, error, away, retry } = useCluster()
  return (
    <>
      <PageHead title="Cluster" aside={state && headline(state)} />
      <div className="page">
        {away !== undefined && <Away why={away} retry={retry} />}
        {error !== undefined && <ErrorNotice error={error} retry={retry} />}
        {state !== undefined ? <Whole state={state} /> : error === undefined && <Waiting />}
        {state === undefined && error !== undefined && (
          <Empty title="The cluster is not shown">
            <p>Members and shards are shown to admins.</p>
          </Empty>
        )}
      </div>
    </>
  )
}

/** A server that answers has its own words; the connection is tried again either way. */
function Away({ why, retry }: { readonly why: Error; readonly retry: () => void }) {
  return why instanceof ApiError && why.status > 0
    ? <ErrorNotice error={why} retry={retry} />
    : <Notice tone="waiting">The connection is lost. It is tried again.</Notice>
}

function Whole({ state }: { readonly state: ClusterState }) {
  const { members, owners, embedded, region } = state
  const { member: chosen } = useSearch({ from: '/cluster' })
  const navigate = useNavigate()
  const choose = (member: string | undefined) =>
    void navigate({ to: '/cluster', search: { member }, replace: true })
  useKeys('Cluster', { Escape: { words: 'Choose no member', act: () => choose(undefined) } })
  return (
    <>
      <ul className={css['members']} aria-label="Members">
        {members.map((member) => (
          <li key={member.id}>
            <MemberCard member={member} all={owners.length} chosen={member.id === chosen}
              choose={() => choose(member.id === chosen ? undefined : member.id)} />
          </li>
        ))}
      </ul>
      {embedded && (
        <Notice>
          <p>
            One member, embedded. It keeps everything in its data directory, and owns all{' '}
            {count(owners.length)} shards.
          </p>
          <p className={css['meta']}>
            A cluster (<code>--store cassandra</code>) adds members: when one dies, the others own
            its shards within seconds, and its runs go on.
          </p>
        </Notice>
      )}
      <div className={css['halves']}>
        <section aria-label="Shards">
          <h2 className={css['title']}>
            Shards
            {chosen !== undefined && (
              <Button kind="quiet" small onClick={() => choose(undefined)}>
                All, not only {shortId(chosen)}
              </Button>
            )}
          </h2>
          <ShardMap state={state} chosen={chosen} />
          {region !== null && <RegionFacts region={region} />}
        </section>
        <Story lines={state.story} />
      </div>
    </>
  )
}

function headline({ members, owners, ...state }: ClusterState): string {
  const there = members.filter(({ state: now }) => now !== 'gone').length
  const of = there === members.length ? '' : `${count(there)} of `
  const nobodys = ownerless({ owners, ...state })
  return `${of}${counted(members.length, 'member')}, ${counted(owners.length, 'shard')}` +
    (nobodys === 0 ? '' : `, ${count(nobodys)} without an owner`)
}

function Waiting() {
  return (
    <>
      <div className={css['members']} aria-busy="true" aria-label="Loading">
        {[0, 1, 2].map((each) => <Skeleton key={each} width="100%" height={132} />)}
      </div>
      <Skeleton width="60%" height={220} />
    </>
  )
}
