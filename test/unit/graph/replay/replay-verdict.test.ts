/** Two executions are compared to a verdict. */

import { expect, it } from 'vitest'

import type { ReplayedRun } from '../../../../src/graph/replay/replay-execution.ts'
import type { ReplayReport } from '../../../../src/graph/replay/replay-report.ts'
import { differenceGroups, differenceKey, divergedPercent,
  verdictCounts } from '../../../../src/graph/replay/replay-summary.ts'
import { faultOfControl, judge, verdictFor } from '../../../../src/graph/replay/replay-verdict.ts'

const quiet: ReplayReport = { answered: 1, moved: [], missing: [], recordedTokens: [], tokens: [],
  stop: null }
const call = { site: { step: 3, nodes: ['plan'] }, method: 'POST', url: 'https://a.example/v1',
  text: 'x' }

function replayed(values: object,
  { error, report = {}, end = 'ended', step = {}, asks, firstStep = 1 }: {
    readonly firstStep?: number
    readonly error?: string
    /** A question to a person, with which it ends. */
    readonly asks?: string
    readonly report?: Partial<ReplayReport>
    readonly end?: ReplayedRun['end']
    readonly step?: Readonly<Record<string, string>>
  } = {}): ReplayedRun {
  return { end, firstStep, values: JSON.stringify(values), ms: 5, report: { ...quiet, ...report },
    steps: [[{ node: 'plan', writes: { plan: '1', ...step } }]],
    outcome: { status: error ? 'error' : 'success', waiting: asks !== undefined,
      interrupts: JSON.stringify(asks === undefined ? {} : { task: [{ id: 'q', value: asks }] }),
      error: error === undefined ? null : { error: 'Error', message: error } } }
}

const well = { hasFailed: false, error: undefined, waits: false, values: '{"a":1}' }
const failed = { ...well, hasFailed: true, error: { error: 'Error', message: 'no' },
  values: undefined }
const control = replayed({ a: 1 })

it('The same calls and states are the same.', () => {
  expect(faultOfControl(control, well)).toBeUndefined()
  expect(judge(replayed({ a: 1 }), control, well).verdict).toBe('same')
})

it('Secrets that the recording hides do not make a state or an error differ.', () => {
  const stars = '*'.repeat(20)
  const ofLog = { ...well, values: JSON.stringify({ a: 1, session: { access_token: 'abc-123' } }) }
  const state = replayed({ a: 1, session: { access_token: stars } })
  expect(faultOfControl(state, ofLog)).toBeUndefined()
  expect(judge(state, undefined, ofLog).verdict).toBe('same')
  const other = replayed({ a: 2, session: { access_token: stars } })
  expect(faultOfControl(other, ofLog)?.verdict).toBe('unstable')
  const refused = { ...failed, error: { error: 'Error', message: 'abc-123 is refused' } }
  expect(judge(replayed({}, { error: `${stars} is refused` }), undefined, refused).verdict)
    .toBe('same')
})

it('Ids and times in a state do not count.', () => {
  const at = (time: string) => replayed({ a: 1, at: time })
  expect(judge(at('2026-11-29T14:02:11Z'), at('2026-11-30T09:00:00Z'), well).verdict).toBe('same')
})

it('Times that are numbers do not count, and other numbers do.', () => {
  const paid = (at: number, cents: number) => replayed({ a: 1, at, cents })
  expect(judge(paid(1_795_000_000_123, 5), paid(1_795_000_009_456, 5), well).verdict).toBe('same')
  expect(judge(paid(1_795_000_000, 5), paid(1_795_000_009, 6), well).verdict).toBe('diverged')
  expect(
    faultOfControl(paid(1_795_000_000_123, 5), { ...well,
      values: '{"a":1,"at":1795000009456,"cents":5,"hidden":true}' }),
  ).toBeUndefined()
})

it.each([
  ['nothing', undefined],
  ['a channel less', { a: 1 }],
  ['a channel more', { a: 1, refund: 5, more: 1 }],
])('A state with %s is another one.', (_, values) => {
  const whole = replayed({ a: 1, refund: 5 })
  const next = { ...whole, values: values && JSON.stringify(values) }
  expect(judge(next, whole, well).verdict).toBe('diverged')
})

it('Whoever waits for a person, or asks something else, has diverged.', () => {
  const asks = (asks: string) => replayed({ a: 1 }, { asks })
  expect(judge(asks('Pay?'), control, well)).toMatchObject({ verdict: 'diverged',
    reason: 'It waits for a person.' })
  expect(judge(asks('Pay?'), undefined, well).verdict).toBe('diverged')
  expect(judge(control, asks('Pay?'), { ...well, waits: true })).toMatchObject({
    verdict: 'diverged',
    reason: 'It waits for nobody any more.',
  })
  expect(judge(asks('Pay 5?'), asks('Pay?'), { ...well, waits: true })).toMatchObject({
    verdict: 'diverged',
    reason: 'It asks something else.',
  })
  expect(judge(asks('Pay?'), asks('Pay?'), { ...well, waits: true }).verdict).toBe('same')
})

it('Without a control a failure is compared with the recorded one.', () => {
  expect(judge(replayed({}, { error: 'no' }), undefined, failed).verdict).toBe('same')
  expect(judge(replayed({}, { error: 'other' }), undefined, failed).verdict).toBe('diverged')
})

it('Other steps or fewer calls with the same end are the same result.', () => {
  expect(judge(replayed({ a: 1 }, { step: { plan: '2' } }), control, well))
    .toMatchObject({ verdict: 'same_result', step: 1, node: 'plan' })
  expect(judge(replayed({ a: 1 }, { report: { missing: [call] } }), control, well))
    .toMatchObject({ verdict: 'same_result', reason: '1 call less.' })
})

it('Another state is named at the first step that differs.', () => {
  expect(judge(replayed({ a: 2 }, { step: { plan: '2' } }), control, well)).toMatchObject({
    verdict: 'diverged',
    step: 1,
    node: 'plan',
    reason: 'Channel plan: 1 → 2',
  })
})

it('Steps have the numbers of their thread, which may have had some before.', () => {
  const later = (more: Parameters<typeof replayed>[1] = {}) =>
    replayed({ a: more.step ? 2 : 1 }, { ...more, firstStep: 7 })
  expect(judge(later({ step: { plan: '2' } }), later(), well)).toMatchObject({ step: 7,
    reason: 'Channel plan: 1 → 2' })
  const asked = (step: number) =>
    later({
      report: {
        stop: { kind: 'call', recorded: null, asked: { ...call, site: { step, nodes: ['plan'] } } },
      },
    })
  expect(judge(asked(8), later({ error: 'no' }), failed).verdict).toBe('fixed')
  expect(judge(asked(7), later({ error: 'no' }), failed).verdict).toBe('diverged')
})

it('A call that nothing answers is named with the recorded one, or is new.', () => {
  const stopped = (recorded: typeof call | null) =>
    judge(replayed({}, { report: { stop: { kind: 'call', asked: call, recorded } } }), control,
      well)
  expect(stopped(call)).toMatchObject({ verdict: 'diverged', step: 3, node: 'plan', recorded: call,
    reason: 'Other call: POST https://a.example/v1' })
  expect(stopped(null)).toMatchObject({ verdict: 'diverged', recorded: null,
    reason: 'New call: POST https://a.example/v1' })
})

it('A failure that is new has failed, and one that is gone is fixed.', () => {
  expect(judge(replayed({}, { error: 'no' }), control, well)).toMatchObject({ verdict: 'failed',
    reason: 'Error: no' })
  const broken = replayed({}, { error: 'no' })
  expect(judge(replayed({ a: 1 }), broken, failed).verdict).toBe('fixed')
  const further = (step: number) =>
    replayed({}, {
      report: {
        stop: { kind: 'call', recorded: null, asked: { ...call, site: { step, nodes: ['plan'] } } },
      },
    })
  expect(judge(further(2), broken, failed).verdict).toBe('fixed')
  expect(judge(further(1), broken, failed).verdict).toBe('diverged')
  expect(judge(replayed({}, { error: 'no' }), broken, failed).verdict).toBe('same')
  expect(judge(replayed({}, { error: 'other' }), broken, failed).verdict).toBe('diverged')
  expect(judge(replayed({}, { end: 'late' }), control, well).verdict).toBe('failed')
})

it.each([
  ['calls that come out otherwise', { report: { missing: [call] } }, 'unstable'],
  ['a call that was not recorded', {
    report: { stop: { kind: 'call', asked: call, recorded: null } as const },
  }, 'unstable'],
  ['another end', { error: 'no' }, 'unstable'],
  ['a database', { report: { stop: { kind: 'connects', to: 'db:5432' } as const } },
    'not_replayable'],
  ['long-term memory', { report: { stop: { kind: 'items' } as const } }, 'not_replayable'],
  ['a loop', { end: 'late' as const }, 'not_replayable'],
])('A control with %s counts in no verdict.', (_, options, verdict) => {
  expect(faultOfControl(replayed({ a: 1 }, options), well)?.verdict).toBe(verdict)
})

it('A control whose state is another one than the recorded is unstable.', () => {
  expect(faultOfControl(replayed({ a: 2 }), well)?.verdict).toBe('unstable')
})

it('Equal differences are one group, and only runs that were compared have a share.', () => {
  const at = (reason: string) => ({ ...verdictFor('diverged', reason), step: 2, node: 'plan' })
  const all = [at('Other call: POST a'), at('Other call: POST b'), at('New call: POST a'),
    verdictFor('unstable', 'Its state differs.'), judge(control, control, well)]
  expect(differenceGroups(all).map(({ runs }) => runs)).toEqual([2, 1, 1])
  expect(all.map((each) => differenceKey(each))).toEqual(
    [0, 0, 1, 2].map((place) => differenceGroups(all)[place]!.key).concat([null!]),
  )
  expect(divergedPercent(verdictCounts(all))).toBe(75)
  expect(divergedPercent(verdictCounts([]))).toBe(100)
})
