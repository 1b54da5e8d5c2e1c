/** The shards as cells in the colours of their owners. */

import { counted } from '../parts/amounts.ts'
import { ownerless, shortId } from './cluster-state.ts'
import type { ClusterState } from './cluster-state.ts'
import css from './cluster.module.css'

/** The map. The shards of a chosen member stand out; one that moved leaps. */
export function ShardMap({ state, chosen }: {
  readonly state: ClusterState
  readonly chosen: string | undefined
}) {
  const { owners, members, moves } = state
  const colours = new Map(members.map(({ id, colour }) => [id, colour]))
  return (
    <div role="img" aria-label={inWords(state)}
      className={`${css['shards']} ${chosen === undefined ? '' : css['dimmed']}`}
    >
      {owners.map((owner, shard) => {
        const moved = moves.get(shard) ?? 0
        const leap = moved === 0 ? '' : css[moved % 2 === 0 ? 'leapAgain' : 'leap']
        const colour = owner === null ? css['nobodys'] : css[`c${colours.get(owner) ?? 0}`]
        return (
          <i key={shard} title={`Shard ${shard}: ${owner === null ? 'nobody' : shortId(owner)}`}
            className={`${css['shard']} ${colour} ${leap} ${
              owner === chosen ? css['bright'] : ''
            }`} />
        )
      })}
    </div>
  )
}

function inWords(state: ClusterState): string {
  const { members, owners } = state
  const owns = members.filter(({ shards }) => shards > 0)
    .map(({ id, shards }) => `${shards} of ${shortId(id)}`)
  const nobodys = ownerless(state)
  return `${counted(owners.length, 'shard')}: ${
    [...owns, ...nobodys > 0 ? [`${nobodys} without an owner`] : []].join(', ')
  }`
}
