/** Retention: what is needed stays, what is old goes, and at most so many are kept. */

import { describe, expect, it } from 'vitest'

import type { Deployment, Revision, RevisionUse, Rollout } from '../../../src/deployment/index.ts'
import { revisionsToRemove } from '../../../src/deployment/records/retention.ts'

const dayMs = 24 * 3_600_000
const nowMs = 1_000 * dayMs

/** A revision for each day, the newest of today. */
function daily(count: number, change: (number: number) => Partial<Revision> = () => ({})) {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1
    return { id: `id ${number}`, name: `r${number}`, number, state: 'ready', expiresAtMs: null,
      activeAtMs: null, createdAtMs: nowMs - (count - number) * dayMs,
      ...change(number) } as Revision
  })
}

const deployment = { active: null, previous: null, next: null,
  rollout: null } as unknown as Deployment
const nobody: ReadonlyMap<string, RevisionUse> = new Map()

function removed(change: Partial<Deployment>, revisions: readonly Revision[], use = nobody) {
  return revisionsToRemove({ ...deployment, ...change }, revisions, use, nowMs)
    .map(({ number }) => number).toSorted((one, other) => one - other)
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('revisions', () => {
  it('of thirty days are kept', () => {
    expect(removed({}, daily(40))).toEqual(upTo(10))
  })

  it('are kept if they are among the newest twenty, whatever their age', () => {
    const old = daily(25, () => ({ createdAtMs: 0 }))
    expect(removed({}, old)).toEqual(upTo(5))
  })

  it('are kept for thirty days from when they were last active', () => {
    const active = daily(40, (number) => number === 3 ? { activeAtMs: nowMs - dayMs } : {})
    expect(removed({}, active)).toEqual(upTo(10).filter((number) => number !== 3))
  })

  it('are a hundred at most', () => {
    expect(removed({}, daily(130, () => ({ createdAtMs: nowMs })))).toEqual(upTo(30))
  })

  it('that anything needs are kept', () => {
    const rollout = { revision: 'r4', from: 'r5' } as Rollout
    expect(
      removed({ active: 'r1', previous: 'r2', next: { revision: 'r3', percent: 5 }, rollout },
        daily(40),
        new Map([['r6', { running: 1, waitingThreads: 0 }], ['r7', { running: 0,
          waitingThreads: 1 }]])),
    ).toEqual([8, 9, 10])
  })

  it('that were removed take no place', () => {
    const half = daily(60, (number) => number % 2 ? { state: 'removed' } : { createdAtMs: 0 })
    expect(removed({}, half)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20])
  })

  it('whose upload has expired go, unless they are checked just now', () => {
    const uploads = daily(4,
      (number) => ({ state: number < 4 ? 'uploading' : 'building',
        expiresAtMs: number === 3 ? nowMs + 1 : nowMs }))
    expect(removed({}, uploads)).toEqual([1, 2, 4])
    expect(removed({ rollout: { revision: 'r2' } as Rollout }, uploads)).toEqual([1, 4])
  })
})
