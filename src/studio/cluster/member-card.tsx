/** One member of the cluster: what it does, what it owns, and what it says of itself. */

import { count, counted } from '../parts/amounts.ts'
import { UpSince } from './up-since.tsx'
import { shortId } from './cluster-state.ts'
import type { ShownMember } from './cluster-state.ts'
import css from './cluster.module.css'

const words: Readonly<Record<ShownMember['state'], string>> = { joining: 'Joining',
  serving: 'Serving', draining: 'Draining', gone: 'Gone' }

/** A card. It is a button that makes the member's shards stand out of all. */
export function MemberCard({ member, all, chosen, choose }: {
  readonly member: ShownMember
  /** Number of all shards of the cluster. */
  readonly all: number
  readonly chosen: boolean
  readonly choose: () => void
}) {
  const { id, address, state, self, colour, shards } = member
  const share = all === 0 ? 0 : shards / all
  return (
    <button type="button" aria-pressed={chosen} onClick={choose}
      className={`${css['member']} ${css[`c${colour}`]} ${css[state]}`}
    >
      <span className={css['what']}>
        <i className={css['dot']} />
        {self && state === 'serving' ? 'Answers this page' : words[state]}
      </span>
      <code title={id}>{shortId(id)}</code>
      <span className={css['address']} title={address}>
        {address}
      </span>
      <span className={css['owns']}>
        {counted(shards, 'shard')} <small>{Math.round(share * 100)} %</small>
      </span>
      <span className={css['bar']}>
        <i style={{ width: `${share * 100}%` }} />
      </span>
      {state !== 'gone' && <Figures member={member} />}
    </button>
  )
}

function Figures({ member: { version, state, started_at: startedAt, actors, runs, load } }: {
  readonly member: ShownMember
}) {
  if (version === null && state === 'joining') return null
  if (version === null) return <span className={css['figures']}>It does not answer.</span>
  return (
    <span className={css['figures']}>
      <span>{version}</span>
      {startedAt !== null && <UpSince iso={startedAt} />}
      {actors !== null && <span>{counted(actors, 'actor')}</span>}
      {runs !== null && <span>{count(runs)} running</span>}
      {load !== null && (
        <span title="The share of its processors that it uses">
          {Math.round(load * 100)} % load
        </span>
      )}
    </span>
  )
}
