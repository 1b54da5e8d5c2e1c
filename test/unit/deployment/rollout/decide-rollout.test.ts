/** Roll-outs step by step, without anything that waits. */

import { describe, expect, it } from 'vitest'

import type { Deployment, Prepared, Revision } from '../../../../src/deployment/index.ts'
import { begunRollout } from '../../../../src/deployment/rollout/begin-rollout.ts'
import type { BeginRequest } from '../../../../src/deployment/rollout/begin-rollout.ts'
import { decideRollout, restMs } from '../../../../src/deployment/rollout/decide-rollout.ts'
import type { RolloutNews } from '../../../../src/deployment/rollout/decide-rollout.ts'
import { aDeployment, aRevision } from '../../../support/rollout-records.ts'

const ready: Prepared = { kind: 'ready', ms: 7,
  graphs: [{ graphId: 'agent', description: null, stateChannels: null, plain: true,
    nodes: ['ask'] }] }
const refused: Prepared = { kind: 'refused', reason: 'agent.ts does not compile.',
  failures: [{ graph_id: 'agent', message: 'Unexpected token', at: 'agent.ts:3' }] }

/** A roll-out whose members are a, which drives, b and c, and what was decided last. */
class Story {
  deployment: Deployment
  revision: Revision
  live: string[] = ['a', 'b', 'c']
  self = 'a'
  nowMs = 0
  events: string[] = []

  constructor(options: Partial<BeginRequest> = {}, before: Partial<Deployment> = { active: 'r1' },
    revision: Partial<Revision> = {}) {
    this.revision = aRevision('r2', revision)
    const deployment = aDeployment(before)
    const begun = begunRollout(deployment, this.revision, { id: 'one', kind: 'activate', by: 'me',
      ...options }, 0)
    this.deployment = { ...deployment, ...'change' in begun ? begun.change : {} }
  }

  /** The effects, as `prepare b`. */
  after(...news: RolloutNews[]): string[] {
    for (;;) {
      const decision = decideRollout(this, news)
      this.revision = { ...this.revision, ...decision.revisionFirst, ...decision.revisionChange }
      if (decision.revisionFirst !== undefined) continue
      this.deployment = { ...this.deployment, ...decision.change }
      this.events = decision.events.map(({ kind, by }) => `${kind} by ${by}`)
      return decision.effects.map(({ kind, member }) => `${kind} ${member}`)
    }
  }

  prepared(member: string, answer: Prepared = ready): string[] {
    return this.after({ kind: 'prepared', member, answer })
  }

  confirmed(member: string): string[] {
    return this.after({ kind: 'confirmed', member, atMs: this.nowMs })
  }

  /** All three members have loaded it, and the pointer has moved. */
  pointed(): this {
    for (const member of this.live) this.prepared(member)
    return this
  }

  /** All three members have confirmed. */
  watched(): this {
    this.pointed()
    for (const member of this.live) this.confirmed(member)
    return this
  }

  get phase() {
    return this.deployment.rollout?.phase
  }
  get states() {
    return Object.fromEntries((this.deployment.rollout ?? this.deployment.lastRollout!).members
      .map(({ id, state }) => [id, state]))
  }
}

describe('preparing', () => {
  it('asks the member that drives, then all others, then moves the pointer', () => {
    const story = new Story()
    expect(story.after()).toEqual(['prepare a'])
    expect(story.prepared('a')).toEqual(['prepare b', 'prepare c'])
    expect(story.revision).toMatchObject({ state: 'ready', graphs: ready.graphs, activeAtMs: null })
    expect(story.prepared('c')).toEqual(['prepare b'])
    expect(story.deployment.active).toBe('r1')
    story.nowMs = 50
    expect(story.prepared('b')).toEqual(['learn a', 'learn b', 'learn c'])
    expect(story.deployment).toMatchObject({ active: 'r2', previous: 'r1', next: null })
    expect(story.phase).toBe('confirming')
    expect(story.revision.activeAtMs).toBe(50)
    expect(story.events).toEqual(['member by heddle', 'pointer by me', 'rollout by me'])
  })

  it('goes on in another member without a second check', () => {
    const story = new Story()
    story.prepared('a')
    Object.assign(story, { self: 'b', live: ['b', 'c', 'a'] })
    expect(story.after()).toEqual(['prepare b', 'prepare c'])
  })

  it('begins the check anew if nobody has loaded it', () => {
    const story = new Story()
    Object.assign(story, { self: 'b', live: ['b', 'c'] })
    expect(story.after()).toEqual(['prepare b'])
    story.live = ['c']
    expect(story.after()).toEqual(['prepare c'])
  })

  it('waits for a member that joined meanwhile, and not for one that was fenced', () => {
    const story = new Story()
    story.prepared('a')
    story.prepared('b')
    story.live = ['a', 'b', 'd']
    expect(story.after()).toEqual(['prepare d'])
    expect(story.prepared('c')).toEqual(['prepare d'])
    expect(story.states).toEqual({ a: 'ready', b: 'ready', d: 'waiting' })
    story.prepared('d')
    expect(story.deployment.active).toBe('r2')
  })

  it('ends with the refusal of any member, and refuses the revision if it never served', () => {
    for (const activeAtMs of [null, 5]) {
      const story = new Story({}, { active: 'r1' }, { activeAtMs })
      story.prepared('a')
      expect(story.prepared('b', refused)).toEqual([])
      expect(story.deployment).toMatchObject({ active: 'r1', rollout: null,
        lastRollout: { result: 'refused', reason: 'agent.ts does not compile.',
          failures: [{ at: 'agent.ts:3' }] } })
      expect(story.revision.state).toBe(activeAtMs === null ? 'refused' : 'ready')
    }
  })

  it('ignores the refusal of a member that is not there any more', () => {
    const story = new Story()
    story.live = ['a', 'b']
    story.prepared('c', refused)
    expect(story.phase).toBe('preparing')
  })

  it('fails with a member that is silent, unless it was fenced', () => {
    const story = new Story()
    story.prepared('a')
    story.live = ['a', 'b']
    story.after({ kind: 'silent', member: 'c', reason: 'c is silent.' })
    expect(story.phase).toBe('preparing')
    story.after({ kind: 'silent', member: 'b', reason: 'b is silent.' })
    expect(story.deployment).toMatchObject({ active: 'r1', rollout: null,
      lastRollout: { result: 'failed', reason: 'b is silent.' } })
    expect(story.states).toEqual({ a: 'ready', b: 'silent' })
    expect(story.revision.state).toBe('ready')
  })

  it('ends at its deadline', () => {
    const story = new Story({ prepareMs: 90_000 })
    story.prepared('a')
    story.nowMs = 89_999
    expect(story.after()).toEqual(['prepare b', 'prepare c'])
    story.nowMs = 90_000
    story.after()
    expect(story.deployment.lastRollout).toMatchObject({ result: 'failed',
      reason: 'Not every member has loaded r2 within 90 s (waiting: b, c).' })
  })

  it('ends if there is no member, or the revision is removed', () => {
    const alone = new Story()
    Object.assign(alone, { live: [], nowMs: 300_000 })
    alone.after()
    expect(alone.deployment.lastRollout?.result).toBe('failed')
    const removed = new Story({}, {}, {})
    removed.revision = { ...removed.revision, state: 'removed' }
    removed.after()
    expect(removed.deployment.lastRollout?.result).toBe('failed')
  })

  it('of a check ends with the first member', () => {
    const story = new Story({ kind: 'check' })
    expect(story.prepared('a')).toEqual([])
    expect(story.deployment).toMatchObject({ active: 'r1', lastRollout: { result: 'done' } })
    expect(story.revision.state).toBe('ready')
  })
})

describe('the pointer', () => {
  it('gets a share beside the active one, and moves over when all go there', () => {
    const share = new Story({ percent: 10 }, { active: 'r1', previous: 'r0' }).pointed()
    expect(share.deployment).toMatchObject({ active: 'r1', previous: 'r0',
      next: { revision: 'r2', percent: 10 } })
    const all = new Story({}, { active: 'r1', next: { revision: 'r2', percent: 10 } }).pointed()
    expect(all.deployment).toMatchObject({ active: 'r2', previous: 'r1', next: null })
  })

  it('stands for secrets, whose version grows', () => {
    const story = new Story({ kind: 'secrets' }, { active: 'r2', previous: 'r1', envVersion: 4 })
    story.prepared('a')
    expect(story.deployment.envVersion).toBe(4)
    story.pointed()
    expect(story.deployment).toMatchObject({ active: 'r2', previous: 'r1', envVersion: 5 })
  })

  it('of a rollback takes back code, and no secrets', () => {
    const before = { active: 'r3', previous: 'r2', envVersion: 4 }
    const story = new Story({ kind: 'rollback' }, before)
    expect(story.deployment.rollout).toMatchObject({ revision: 'r2', envVersion: 4 })
    expect(story.pointed().deployment).toMatchObject({ active: 'r2', previous: 'r3',
      envVersion: 4 })
  })

  it('keeps the previous one when the active one is activated again', () => {
    const story = new Story({}, { active: 'r2', previous: 'r1',
      next: { revision: 'r3', percent: 5 } }).pointed()
    expect(story.deployment).toMatchObject({ active: 'r2', previous: 'r1', next: null })
  })
})

describe('confirming', () => {
  it('ends when all have confirmed', () => {
    const story = new Story().pointed()
    story.nowMs = 30
    expect(story.confirmed('b')).toEqual(['learn a', 'learn c'])
    story.confirmed('a')
    story.nowMs = 40
    expect(story.confirmed('c')).toEqual(['tally a', 'tally b', 'tally c'])
    expect(story.deployment.rollout).toMatchObject({ phase: 'watching', phaseAtMs: 40,
      members: [{ id: 'a', ms: 30 }, { id: 'b', ms: 30 }, { id: 'c', ms: 40 }] })
  })

  it('names those that do not confirm within 2 s, and goes on', () => {
    const story = new Story({ watchMs: 0 }).pointed()
    story.confirmed('a')
    story.live = ['a', 'b']
    story.nowMs = 1_999
    expect(story.after()).toEqual(['learn b'])
    expect(restMs(story.deployment.rollout!, story.nowMs)).toBe(10)
    story.nowMs = 2_000
    story.after()
    expect(story.deployment).toMatchObject({ active: 'r2', rollout: null,
      lastRollout: { result: 'done' } })
    expect(story.states).toEqual({ a: 'confirmed', b: 'silent' })
  })

  it('notes that the revision is active, if the member before could not', () => {
    const story = new Story().pointed()
    story.revision = { ...story.revision, activeAtMs: null }
    story.nowMs = 500
    story.after()
    expect(story.revision.activeAtMs).toBe(0)
  })

  it('lets members that joined load the revision', () => {
    const story = new Story().pointed()
    story.live = ['a', 'b', 'c', 'd']
    story.after()
    expect(story.after()).toContain('prepare d')
    expect(story.after()).toContain('learn d')
  })
})

describe('watching', () => {
  it('ends in time although the clock was two days ahead when it began', () => {
    const story = new Story({ watchMs: 5_000 }).watched()
    const aheadMs = 48 * 3_600_000
    const rollout = { ...story.deployment.rollout!, startedAtMs: aheadMs, phaseAtMs: aheadMs }
    story.deployment = { ...story.deployment, rollout }
    story.nowMs = 1_000
    story.after()
    expect([story.phase, restMs(story.deployment.rollout!, story.nowMs)]).toEqual(['watching',
      1_000])
    story.nowMs += 5_000
    story.after()
    expect(story.deployment.rollout).toBeNull()
  })

  it('ends after its time', () => {
    const story = new Story({ watchMs: 5_000 }).watched()
    story.nowMs = 4_999
    expect(story.after()).toEqual(['tally a', 'tally b', 'tally c'])
    story.nowMs = 5_000
    expect(story.after()).toEqual(['learn a', 'learn b', 'learn c'])
    expect(story.deployment).toMatchObject({ active: 'r2', lastRollout: { result: 'done' } })
  })

  it('moves the pointer back, for all to learn', () => {
    const story = new Story({}, { active: 'r1', previous: 'r0' }).watched()
    expect(story.after({ kind: 'verdict', reason: 'Too bad.' })).toEqual(['learn a', 'learn b',
      'learn c'])
    expect(story.deployment).toMatchObject({ active: 'r1', previous: null, next: null,
      rollout: null, lastRollout: { result: 'rolled_back', reason: 'Too bad.' } })
    expect(story.events).toEqual(['pointer by heddle', 'rollout by heddle'])
    expect(story.revision.state).toBe('ready')
  })

  it('moves runs under way with the pointer, forth and back, if that was asked for', () => {
    const story = new Story({ now: true }).watched()
    expect(story.deployment).toMatchObject({ active: 'r2', movesRuns: true })
    story.after({ kind: 'verdict', reason: 'Too bad.' })
    expect(story.deployment).toMatchObject({ active: 'r1', movesRuns: true })
    const { deployment } = new Story({}, { active: 'r1', movesRuns: true }).pointed()
    expect(deployment).toMatchObject({ active: 'r2', movesRuns: false })
  })

  it('takes back a share', () => {
    const story = new Story({ percent: 5 }, { active: 'r1', previous: 'r0' }).watched()
    story.after({ kind: 'verdict', reason: 'Too bad.' })
    expect(story.deployment).toMatchObject({ active: 'r1', previous: 'r0', next: null })
  })

  it('still asks those that did not confirm', () => {
    const story = new Story().pointed()
    story.nowMs = 2_000
    expect(story.after()).toEqual(['tally a', 'tally b', 'tally c', 'learn a', 'learn b',
      'learn c'])
    story.nowMs = 2_500
    expect(story.confirmed('b')).not.toContain('learn b')
    expect(story.deployment.rollout?.members[1]).toEqual({ id: 'b', state: 'confirmed', ms: 2_500 })
  })
})
