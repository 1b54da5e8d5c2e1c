/** Replays in the Studio: what is said of them, which runs are shown, and what a form asks for. */

import { describe, expect, it } from 'vitest'

import { readReplaySearch, verdicts } from '../../../src/studio/addresses/deployments.ts'
import type { Revision } from '../../../src/studio/api/control/deployment.ts'
import type { ReplayProgress } from '../../../src/studio/api/control/replays.ts'
import { bodyOf, callText, chosenRuns, countsText, emptyDraft, givenVerdicts, offeredRevision,
  placeText, progressText, siteText, triable, usageText,
  verdictWords } from '../../../src/studio/deployments/replays/replay-words.ts'
import { FakeReplays, runVerdict } from '../../support/fake-replays.ts'
import { revision } from '../../studio/support/shop.ts'

const runs = [runVerdict(1), runVerdict(2, { verdict: 'same_result', group: 'less' }),
  runVerdict(3, { verdict: 'diverged', group: 'prompt' }),
  runVerdict(4, { verdict: 'diverged', group: 'new' }), runVerdict(5, { verdict: 'unstable' })]
const progress = (change: Partial<ReplayProgress['replay']>) =>
  new FakeReplays().add(change, runs.slice(0, 3))

describe('verdicts', () => {
  it('have words each, and are listed in one order without those that were not given', () => {
    expect(Object.keys(verdictWords)).toEqual([...verdicts])
    const { verdicts: counts } = new FakeReplays().add({}, runs)
    expect(givenVerdicts(counts)).toEqual([{ verdict: 'same', runs: 1 }, { verdict: 'same_result',
      runs: 1 }, { verdict: 'diverged', runs: 2 }, { verdict: 'unstable', runs: 1 }])
    expect(countsText(counts)).toBe('1 same, 1 same result, 2 diverged, 1 unstable')
    expect(countsText(new FakeReplays().add().verdicts)).toBe('no verdict')
  })

  it.each<readonly [Partial<ReplayProgress['replay']>, string]>([
    [{ phase: 'running', runs: null }, 'Chooses the runs'],
    [{ phase: 'cancelled', runs: null }, 'No runs were chosen'],
    [{ phase: 'running', runs: 200 }, '3 of 200 runs'],
    [{ phase: 'failed', runs: 200 }, '3 of 200 runs'],
    [{ phase: 'done', runs: 1 }, '1 run'],
  ])('of a replay that is %j: %s', (change, words) => {
    expect(progressText(progress(change))).toBe(words)
  })
})

describe('runs', () => {
  it('that differ come first', () => {
    expect(chosenRuns(runs, {}).map(({ verdict }) => verdict))
      .toEqual(['diverged', 'diverged', 'same_result', 'unstable', 'same'])
  })

  it('are those of a verdict, of a group, or of both', () => {
    const ids = (search: object) => chosenRuns(runs, search).map(({ group }) => group)
    expect(ids({ verdict: 'diverged' })).toEqual(['prompt', 'new'])
    expect(ids({ group: 'new' })).toEqual(['new'])
    expect(ids({ group: 'new', verdict: 'same' })).toEqual([])
  })

  it('are chosen by an address, in which anything may stand', () => {
    expect(readReplaySearch({ verdict: 'none', group: '["diverged",3]', run: '' }))
      .toEqual({ verdict: undefined, group: '["diverged",3]', run: undefined })
  })

  it('say where they differ as far as that is known', () => {
    expect(placeText({ step: 3, node: 'research/plan' })).toBe('step 3, research/plan')
    expect(placeText({ step: null, node: 'plan' })).toBe('plan')
    expect(placeText({ step: null, node: null })).toBe('')
    expect(siteText({ step: 2, nodes: ['research', 'plan'] })).toBe('step 2, research/plan')
    expect(siteText(null)).toBe('outside of nodes')
    expect(callText({ method: 'GET', url: 'https://a.example' })).toBe('GET https://a.example')
    expect(callText(null)).toBe('–')
  })
})

describe('tokens and cost', () => {
  const usage = (before: number | null, after: number | null, isLeast = false) =>
    usageText({ recorded: { tokens: before, cost: before && before / 1_000 },
      replayed: { tokens: after, cost: after && after / 1_000 }, is_at_least: isLeast })

  it('stand before and after, as far as they are known', () => {
    expect(usage(1_920, 1_330)).toEqual({ tokens: '1,920 → 1,330', cost: '$1.92 → $1.33' })
    expect(usage(1_920, 1_330, true).tokens).toBe('1,920 → at least 1,330')
    expect(usage(1_920, null)).toEqual({ tokens: '1,920 → –', cost: '$1.92 → –' })
    expect(usage(null, null)).toEqual({ tokens: null, cost: null })
  })
})

describe('the form', () => {
  it('asks for what was typed, and leaves out what was not', () => {
    expect(bodyOf({ ...emptyDraft, revision: 'r13' }))
      .toEqual({ revision: 'r13', sample: 100, control: true, run_s: 60 })
    expect(
      bodyOf({ revision: 'r2', graph: 'desk', sinceS: 3_600, sample: '7', control: false,
        seconds: '5' }),
    ).toEqual({ revision: 'r2', graph_id: 'desk', since_s: 3_600, sample: 7, control: false,
      run_s: 5 })
  })

  it('offers the newest revision that is ready and not active', () => {
    const all = [revision(14, { state: 'uploading' }), revision(13), revision(12),
      revision(11, { state: 'removed' })] as readonly Revision[]
    expect(triable(all).map(({ name }) => name)).toEqual(['r14', 'r13', 'r12'])
    expect(offeredRevision(all, 'r12')).toBe('r13')
    expect(offeredRevision(all.slice(2), 'r12')).toBe('r12')
    expect(offeredRevision([], null)).toBe('')
  })
})
