/** Roll-outs under any order of answers, deaths, joins and changes of the driver. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import type { Deployment, Revision } from '../../../../src/deployment/index.ts'
import { begunRollout } from '../../../../src/deployment/rollout/begin-rollout.ts'
import { confirmMs, decideRollout } from '../../../../src/deployment/rollout/decide-rollout.ts'
import type { RolloutNews } from '../../../../src/deployment/rollout/decide-rollout.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { aDeployment, aRevision } from '../../../support/rollout-records.ts'

const names = ['a', 'b', 'c', 'd', 'e']
const aMember = fc.constantFrom(...names)

/** Something that happens. Answers of members that were never asked, or twice, are among them. */
const aMove = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ready' as const), member: aMember }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('confirmed' as const), member: aMember }) },
  fc.record({ kind: fc.constantFrom('refused' as const, 'silent' as const), member: aMember }),
  fc.record({ kind: fc.constantFrom('join' as const, 'fence' as const, 'drive' as const),
    member: aMember }),
  fc.record({ kind: fc.constant('verdict' as const), member: aMember }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 5_000 }) }),
)
type Move = typeof aMove extends fc.Arbitrary<infer Kind> ? Kind : never

const prepareMs = 30_000
const watchMs = 20_000

/** The state of one story, with what is true beside the record. */
interface World {
  deployment: Deployment
  revision: Revision
  live: string[]
  self: string
  nowMs: number
  loaded: Set<string>
}

function newsOf(move: Move, world: World): RolloutNews[] {
  switch (move.kind) {
    case 'ready':
      world.loaded.add(move.member)
      return [{ kind: 'prepared', member: move.member,
        answer: { kind: 'ready', ms: 1, graphs: [] } }]
    case 'refused':
      return [{ kind: 'prepared', member: move.member,
        answer: { kind: 'refused', reason: 'No.', failures: [] } }]
    case 'silent':
      return [{ kind: 'silent', member: move.member, reason: 'Silent.' }]
    case 'confirmed':
      return [{ kind: 'confirmed', member: move.member, atMs: world.nowMs }]
    case 'verdict':
      return [{ kind: 'verdict', reason: 'Bad.' }]
    case 'join':
      world.live = [...new Set([...world.live, move.member])]
      return []
    case 'fence':
      world.live = world.live.filter((member) => member !== move.member)
      return []
    case 'drive':
      world.self = move.member
      return []
    case 'time':
      world.nowMs += move.ms
      return []
  }
}

function step(world: World, news: readonly RolloutNews[]): void {
  for (;;) {
    const before = world.deployment
    const { revisionFirst, revisionChange, change } = decideRollout(world, news)
    world.revision = { ...world.revision, ...revisionFirst, ...revisionChange }
    if (revisionFirst !== undefined) continue
    world.deployment = { ...before, ...change }
    const { active, next, envVersion, lastRollout } = world.deployment
    const hasMoved = active !== before.active || next !== before.next ||
      envVersion !== before.envVersion
    if (!hasMoved) return
    const isUndone = lastRollout?.result === 'rolled_back'
    if (!isUndone) { for (const member of world.live) expect(world.loaded).toContain(member) }
    expect(isUndone ? ['r1'] : ['r1', 'r2']).toContain(active)
    return
  }
}

it('end in time, and point only at what every live member has loaded', () => {
  const results = new Map<string, number>()
  expectAlways(
    fc.property(
      fc.constantFrom('check', 'activate', 'rollback', 'secrets'),
      fc.constantFrom(100, 10),
      fc.boolean(),
      fc.array(aMove, { maxLength: 80, size: 'max' }),
      (kind, percent, isCalm, moves) => {
        const revision = aRevision(kind === 'secrets' ? 'r1' : 'r2')
        const deployment = aDeployment({ active: 'r1' })
        const begun = begunRollout(deployment, revision, { id: 'one', kind, by: 'me',
          ...kind === 'activate' && { percent }, prepareMs, watchMs }, 0)
        if ('refusal' in begun) throw new Error(begun.refusal.message)
        const world: World = { deployment: { ...deployment, ...begun.change }, revision, self: 'a',
          live: ['a', 'b', 'c'], nowMs: 0, loaded: new Set() }
        for (const move of moves) {
          const isLeftOut = isCalm && (move.kind === 'refused' || move.kind === 'silent')
          if (!isLeftOut) step(world, newsOf(move, world))
        }
        const { rollout } = world.deployment
        const endMs = { preparing: prepareMs + confirmMs + watchMs, confirming: confirmMs + watchMs,
          watching: watchMs }
        const atMs = world.nowMs + (rollout === null ? 0 : endMs[rollout.phase])
        while (world.nowMs < atMs) {
          world.nowMs = Math.min(atMs, world.nowMs + 1_000)
          step(world, [])
        }
        expect(world.deployment.rollout).toBeNull()
        const { result } = world.deployment.lastRollout!
        const isRefused = world.revision.state === 'refused'
        if (isRefused) expect(world.deployment.active).toBe('r1')
        results.set(result, (results.get(result) ?? 0) + 1)
      },
    ),
    { share: 40 },
  )
  // Otherwise the moves would be too dull to prove anything.
  for (const result of ['done', 'refused', 'failed', 'rolled_back']) {
    expect(results.get(result) ?? 0).toBeGreaterThan(0)
  }
})
