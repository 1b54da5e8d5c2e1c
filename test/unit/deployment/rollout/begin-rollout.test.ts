/** How roll-outs begin, and when they do not. */

import { describe, expect, it } from 'vitest'

import type { Rollout } from '../../../../src/deployment/index.ts'
import { begunRollout } from '../../../../src/deployment/rollout/begin-rollout.ts'
import type { BeginRequest } from '../../../../src/deployment/rollout/begin-rollout.ts'
import { aDeployment, aRevision } from '../../../support/rollout-records.ts'

const options: BeginRequest = { id: 'one', kind: 'activate', by: 'me' }
const underWay: Rollout = { id: 'zero', kind: 'activate', revision: 'r1', from: null, percent: 100,
  envVersion: 0, phase: 'preparing', members: [], startedAtMs: 1, phaseAtMs: 1, watchMs: 0,
  prepareMs: 300_000, by: 'me', message: '' }

function begun(deployment = aDeployment(), revision = aRevision('r2'),
  more: Partial<BeginRequest> = {}) {
  const result = begunRollout(deployment, revision, { ...options, ...more }, 1_000)
  return 'refusal' in result ? result.refusal : result.change
}

describe('a roll-out', () => {
  it('begins with nobody ready, and remembers where it came from', () => {
    expect(begun(aDeployment({ active: 'r1', envVersion: 3 }))).toEqual({
      rollout: { id: 'one', kind: 'activate', revision: 'r2', from: 'r1', percent: 100,
        envVersion: 3, members: [], phase: 'preparing', startedAtMs: 1_000, phaseAtMs: 1_000,
        watchMs: 60_000, prepareMs: 300_000, by: 'me', message: '' },
    })
  })

  it('is not watched if there is nothing to go back to', () => {
    const watched = (active: string | null, more: Partial<BeginRequest> = {}) =>
      begun(aDeployment({ active }), aRevision('r2'), { watchMs: 5_000, ...more })
    expect(watched('r1')).toMatchObject({ rollout: { watchMs: 5_000 } })
    expect(watched(null)).toMatchObject({ rollout: { watchMs: 0 } })
    expect(watched('r2')).toMatchObject({ rollout: { watchMs: 0 } })
    for (const kind of ['check', 'rollback', 'secrets'] as const) {
      expect(watched('r1', { kind })).toMatchObject({ rollout: { watchMs: 0 } })
    }
  })

  it('gives a share only beside an active revision', () => {
    const share = (active: string | null) =>
      begun(aDeployment({ active }), aRevision('r2'), { percent: 10 })
    expect(share('r1')).toMatchObject({ rollout: { percent: 10 } })
    expect(share(null)).toMatchObject({ rollout: { percent: 100 } })
    expect(share('r2')).toMatchObject({ code: 'invalid' })
    for (const percent of [0, 101, 1.5, Number.NaN]) {
      expect(begun(aDeployment({ active: 'r1' }), aRevision('r2'), { percent }))
        .toMatchObject({ code: 'invalid' })
    }
  })

  it('moves runs under way only as a whole', () => {
    const moving = (percent?: number) =>
      begun(aDeployment({ active: 'r1' }), aRevision('r2'), { now: true, percent })
    expect(moving()).toMatchObject({ rollout: { now: true } })
    expect(moving(10)).toMatchObject({ code: 'invalid' })
  })

  it('of secrets has the version that they will have', () => {
    expect(
      begun(aDeployment({ active: 'r2', envVersion: 3 }), aRevision('r2'), { kind: 'secrets' }),
    ).toMatchObject({ rollout: { envVersion: 4 } })
  })

  it('is stale while another moves the pointer, or if another revision is active', () => {
    for (const phase of ['preparing', 'confirming'] as const) {
      expect(begun(aDeployment({ rollout: { ...underWay, phase } })))
        .toMatchObject({ code: 'stale', message: expect.stringContaining('r1') })
    }
    const active = aDeployment({ active: 'r1' })
    expect(begun(active, aRevision('r2'), { expect: 'r1' })).toHaveProperty('rollout')
    expect(begun(active, aRevision('r2'), { expect: 'r7' })).toMatchObject({ code: 'stale',
      message: 'Active is r1, and not r7 as expected.' })
    expect(begun(active, aRevision('r2'), { expect: null })).toMatchObject({ code: 'stale' })
  })

  it('ends the watch of the one before, which is done', () => {
    expect(begun(aDeployment({ active: 'r1', rollout: { ...underWay, phase: 'watching' } })))
      .toMatchObject({ rollout: { id: 'one' },
        lastRollout: { id: 'zero', result: 'done', reason: null, endedAtMs: 1_000 } })
  })

  it('is not ready for a revision that cannot be loaded', () => {
    for (const state of ['refused', 'removed', 'building'] as const) {
      expect(begun(aDeployment(), aRevision('r2', { state }))).toMatchObject({ code: 'not_ready' })
    }
    expect(begun(aDeployment(), aRevision('r2'), { missingChunks: 2 }))
      .toMatchObject({ code: 'not_ready', message: expect.stringContaining('2 chunks') })
    expect(begun(aDeployment({ paused: true }))).toHaveProperty('rollout')
  })
})
