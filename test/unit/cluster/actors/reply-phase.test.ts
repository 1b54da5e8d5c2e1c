/** What may become of a reply, for each phase of it. */

import { expect, it } from 'vitest'

import { failedReply, isChecked, mayGiveUp,
  phaseOfTurn } from '../../../../cluster/actors/reply-phase.ts'
import type { ReplyPhase } from '../../../../cluster/actors/reply-phase.ts'

const phases: readonly ReplyPhase[] = ['waiting', 'abandoned', 'writing', 'reading', 'early']

it('knows by its decision whether a turn writes', () => {
  expect([phaseOfTurn(undefined), phaseOfTurn('read'), phaseOfTurn('early')])
    .toEqual(['writing', 'reading', 'early'])
})

it('gives up only what has written nothing', () => {
  expect(phases.filter(mayGiveUp)).toEqual(['waiting', 'reading'])
})

it('checks every reply that acknowledges something', () => {
  expect(phases.filter((phase) => !isChecked(phase))).toEqual(['early'])
})

it('decides what becomes of a failed reply', () => {
  const transcript = phases.map((phase) => {
    const fates = (['no', 'same', 'elsewhere', undefined] as const).map((retry) =>
      failedReply(phase, retry)
    )
    return `${phase}: ${fates.join(', ')}`
  })
  expect(transcript).toEqual([
    'waiting: check, as_is, as_is, as_is',
    'abandoned: check, as_is, as_is, as_is',
    'writing: check, as_is, unknown, as_is',
    'reading: check, as_is, as_is, as_is',
    'early: check, as_is, unknown, as_is',
  ])
})
