/** What is decided about one shard, for each phase. */

import { expect, it } from 'vitest'

import { decideMove, giveBackOrder } from '../../../../cluster/shards/shard-phase.ts'
import type { ShardPhase } from '../../../../cluster/shards/shard-phase.ts'

const phases: readonly ShardPhase[] = ['free', 'unclear', 'taking', 'owned', 'giving', 'stopped']

it('decides the move of a shard by its phase, its place and its owner', () => {
  const transcript = phases.flatMap((phase) =>
    [true, false].flatMap((isPlacedHere) =>
      [true, false].map((isOthers) => {
        const where = isPlacedHere ? 'here' : 'elsewhere'
        const whose = isOthers ? 'of another' : 'of nobody else'
        const move = decideMove({ phase, isPlacedHere, isOthers })
        return `${phase}, placed ${where}, ${whose}: ${move}`
      })
    )
  )
  expect(transcript.filter((line) => !line.endsWith('nothing'))).toEqual([
    'free, placed here, of another: look_again',
    'free, placed here, of nobody else: take',
    'unclear, placed here, of another: look_again',
    'unclear, placed here, of nobody else: take',
    'unclear, placed elsewhere, of another: take',
    'unclear, placed elsewhere, of nobody else: take',
    'owned, placed elsewhere, of another: give',
    'owned, placed elsewhere, of nobody else: give',
  ])
})

it('gives busy shards back last while the member stays, and first when it leaves', () => {
  const busy = new Set([1, 3])
  expect(giveBackOrder([0, 1, 2, 3], busy, true)).toEqual([0, 2, 1, 3])
  expect(giveBackOrder([0, 1, 2, 3], busy, false)).toEqual([1, 3, 0, 2])
})
