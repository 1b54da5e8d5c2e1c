/** What becomes of an experiment, as transcripts. */

import { expect, it } from 'vitest'

import { endedRuns, hasEnded, progressAfter,
  unbegun } from '../../../../src/platform/evaluate/experiments/background-experiment.ts'
import type { ExperimentEvent,
  ExperimentProgress } from '../../../../src/platform/evaluate/experiments/background-experiment.ts'

const total = 4
const end = (no: number, more: object = {}): ExperimentEvent => ({ kind: 'end',
  run: { no, failed: false, verdicts: 2, failedVerdicts: 0, error: null, ...more } })

function after(...events: readonly ExperimentEvent[]): ExperimentProgress {
  return events.reduce<ExperimentProgress>(
    (now, event, at) => progressAfter({ ...now, total }, [event], at + 1),
    unbegun,
  )
}

it('Runs end in any order, each once, and the last one completes it', () => {
  expect(after(end(2), end(0))).toMatchObject({ status: 'Running', version: 3, next: 1, ended: [2],
    verdicts: 4 })
  expect(after(end(2), end(0), end(1))).toMatchObject({ next: 3, ended: [] })
  const twice = after(end(2), end(0), end(2), end(0))
  expect(endedRuns(twice)).toBe(2)
  expect(twice.verdicts).toBe(4)
  expect(after(end(3), end(2), end(1), end(0))).toMatchObject({ status: 'Completed', next: 4,
    ended: [], finishedMs: 4 })
  expect([0, 1, 2].map((no) => hasEnded(twice, no))).toEqual([true, false, true])
})

it('Any order of ends and repeats counts each run once', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const order = Array.from({ length: 30 }, (_, at) => (at * 7 * seed + seed * seed) % 20)
    const events = [...order, ...Array.from({ length: 20 }, (_, no) => no)].map((no) => end(no))
    let now: ExperimentProgress = unbegun
    for (let at = 0; at < events.length; at += 1 + seed % 5) {
      now = progressAfter({ ...now, total: 20 }, events.slice(at, at + 1 + seed % 5), 1)
    }
    expect(now).toMatchObject({ status: 'Completed', next: 20, ended: [], verdicts: 40 })
  }
})

it('A limit is no failure, and is forgotten when it goes on', () => {
  const wait: ExperimentEvent = { kind: 'wait', untilMs: 99, message: 'Later.' }
  expect(after(end(0), wait)).toMatchObject({ status: 'Running', error: 'Later.', waitsUntilMs: 99,
    failed: 0 })
  expect(after(end(0), wait, end(1))).toMatchObject({ error: null, waitsUntilMs: null })
  const failed = end(1, { failed: true, verdicts: 0, error: 'No.' })
  expect(after(failed, end(2))).toMatchObject({ failed: 1, error: 'No.' })
})

it('Nothing follows an end', () => {
  const final: ExperimentEvent = { kind: 'failure', message: 'Gone.', isFinal: true }
  for (const last of [final, { kind: 'cancel' }] as const) {
    const over = after(end(0), last)
    for (const event of [end(1), final, { kind: 'cancel' }] as const) {
      expect(progressAfter({ ...over, total }, [event], 9)).toEqual(over)
    }
  }
  expect(after(final)).toMatchObject({ status: 'Failed', error: 'Gone.', finishedMs: 1 })
  expect(after({ ...final, isFinal: false })).toMatchObject({ status: 'Created', error: 'Gone.' })
})
