/** The effects of a run that the records of its log name, and what the API shows of them. */

import { expect, it } from 'vitest'

import type { EffectNote } from '../../../../proto/gen/storage/v1/log.ts'
import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { effectsJson } from '../../../../src/frontdoor/operations/run-details.ts'
import { EffectFold, effectsMax } from '../../../../src/thread/model/effect-fold.ts'

const started = (runId: string) => ({ $case: 'runStarted', value: { runId } }) as RecordOf
const noted = (rule: string, atMs: number, note: NonNullable<EffectNote['note']>, ordinal = 0) =>
  ({ $case: 'writes',
    value: { ns: '', checkpointId: 'c', taskId: 't', writes: [],
      effect: { rule, ordinal, atMs, note } } }) as unknown as RecordOf
const intended = { $case: 'intended', value: { key: 'k', hash: 'h' } } as const
const settled = { $case: 'settled', value: { hash: 'h', resultJson: '1', isCut: false } } as const
const decided = (decision: string) =>
  ({ $case: 'decided', value: { decision, runId: 'r' } }) as const

function shown(...records: RecordOf[]) {
  const fold = new EffectFold('r', false)
  fold.take([started('r'), ...records])
  return JSON.parse(effectsJson(fold.answer)) as { readonly effects: readonly object[] }
}

it('An effect has its key, its times, and what a person said.', () => {
  expect(
    shown(noted('charge', 1, intended), noted('charge', 2, intended), noted('charge', 3, settled)),
  ).toEqual({ truncated: false,
    effects: [{ name: 'charge', ordinal: 0, strength: 'once', status: 'done', key: 'k',
      begun_at: '1970-01-01T00:00:00.001+00:00', settled_at: '1970-01-01T00:00:00.003+00:00',
      decision: null, decided_at: null, checkpoint_ns: '', checkpoint_id: 'c', task_id: 't' }] })
  expect(shown(noted('mail', 1, intended)).effects).toMatchObject([{ status: 'unknown' }])
  expect(shown(noted('mail', 1, intended), noted('mail', 2, decided('fail'))).effects)
    .toMatchObject([{ status: 'failed', decision: 'fail' }])
  expect(shown(noted('mail', 2, decided('done'))).effects)
    .toMatchObject([{ status: 'done', strength: 'once', begun_at: null }])
  expect(shown(noted('model', 1, settled)).effects)
    .toMatchObject([{ status: 'done', strength: 'keep', key: null }])
})

it('Those of other runs are not of it, and there are only so many.', () => {
  expect(shown(started('other'), noted('charge', 1, intended)).effects).toEqual([])
  const fold = new EffectFold('r', false)
  fold.take([started('r'),
    ...Array.from({ length: effectsMax + 1 }, (_, i) => noted('charge', 1, intended, i))])
  expect(fold.answer).toMatchObject({ effects: { length: effectsMax }, isCut: true })
})
