/** Who counts as dead: each decision, for all that may be known. */

import { describe, expect, it } from 'vitest'

import { heartbeatRestMs, isStale, judgeHeartbeat, judgeRefusal,
  judgeSilence } from '../../../../cluster/membership/verdict.ts'
import type { Verdict } from '../../../../cluster/membership/verdict.ts'

const own = { stoodStill: false, wasAlone: false, slackMs: 0 }
const textOf = (verdict: Verdict) => verdict.kind === 'dead' ? verdict.why : verdict.kind

describe('a member whose address refuses connections', () => {
  it('is dead unless another member sees it', () => {
    const verdicts = (['seen', 'not seen', 'nobody asked'] as const)
      .map((witness) => `${witness}: ${textOf(judgeRefusal(witness, own))}`)
    expect(verdicts).toEqual([
      'seen: unclear',
      'not seen: Nobody is at its address.',
      'nobody asked: Nobody is at its address.',
    ])
  })

  it('is not judged by a member that was alone a moment ago', () => {
    expect(judgeRefusal('not seen', { wasAlone: true }).kind).toBe('reachable')
  })
})

describe('a member that does not answer at once', () => {
  it('is silent if it does not answer later, nor another member', () => {
    const verdicts = [true, false].flatMap((isReached) =>
      (['seen', 'not seen', 'nobody asked'] as const).map((witness) =>
        `${isReached ? 'reached' : 'not reached'}, ${witness}: ${
          textOf(judgeSilence({ isReached, witness, own }))
        }`
      )
    )
    expect(verdicts.filter((line) => !line.endsWith('reachable')))
      .toEqual(['not reached, not seen: silent'])
  })

  it('is not judged by a member that stood still or was alone', () => {
    for (const change of [{ stoodStill: true }, { wasAlone: true }]) {
      const verdict = judgeSilence({ isReached: false, witness: 'not seen',
        own: { ...own, ...change } })
      expect(verdict.kind).toBe('reachable')
    }
  })
})

describe('a silent member', () => {
  it('is dead if it leaves no heartbeat', () => {
    const judged = { hasHeartbeat: false, silenceMs: 0 }
    expect(textOf(judgeHeartbeat({ ...judged, own })))
      .toBe('It does not answer, and leaves no heartbeat.')
    expect(judgeHeartbeat({ ...judged, own: { ...own, stoodStill: true } }).kind).toBe('unclear')
  })

  it('is cut off if it leaves heartbeats for eight seconds, and longer on a slow machine', () => {
    const at = (silenceMs: number, slackMs = 0) =>
      textOf(judgeHeartbeat({ hasHeartbeat: true, silenceMs, own: { ...own, slackMs } }))
    expect([at(7_999), at(8_000), at(8_000, 1), at(8_001, 1)]).toEqual([
      'unclear',
      'It leaves heartbeats, but no member reaches it.',
      'unclear',
      'It leaves heartbeats, but no member reaches it.',
    ])
  })

  it('has five seconds for a heartbeat', () => {
    expect(heartbeatRestMs(4_900, own)).toBe(100)
    expect(heartbeatRestMs(4_900, { slackMs: 50 })).toBe(150)
  })
})

it('takes a heartbeat for stale after eight seconds, unless this member stood still', () => {
  expect([isStale(8_000, own), isStale(8_001, own)]).toEqual([false, true])
  expect(isStale(9_000, { ...own, slackMs: 1_000 })).toBe(false)
  expect(isStale(9_000, { ...own, stoodStill: true })).toBe(false)
})
