/** Looks at files of examples, and scores beside each other. */

import { describe, expect, it } from 'vitest'

import type { ExperimentRun } from '../../../src/studio/api/platform/experiments.ts'
import { lookAt } from '../../../src/studio/datasets/file-look.ts'
import { againMs, isRunning } from '../../../src/studio/experiments/progress.ts'
import { arranged, comparedRow, deltasOf, deltaWords,
  meansOf } from '../../../src/studio/experiments/scores.ts'

describe('a look at a file', () => {
  it('reads quotes, doubled quotes, line ends within them and a mark of the order of bytes', () => {
    const text = '\u{feff}question,answer\r\n"a, ""b""\nc",d\r\ne,\r\n'
    expect(lookAt(text, true, false)).toEqual({ columns: ['question', 'answer'],
      rows: [['a, "b"\nc', 'd'], ['e', '']] })
  })

  it('says which row of a CSV is broken', () => {
    expect(() => lookAt('a,b\n"c,d', true, false)).toThrow('Row 2')
  })

  it('leaves out the line that was cut, and names the one that is no object', () => {
    expect(lookAt('{"a":1}\n{"b":{"c":2}}\n{"a', false, true)).toEqual({ columns: ['a', 'b'],
      rows: [['1', ''], ['', '{"c":2}']] })
    expect(() => lookAt('{"a":1}\n[2]\n', true, true)).toThrow('Line 2 is no JSON object.')
  })
})

describe('scores beside each other', () => {
  const scores = (avg: number) => ({ n: 1, avg, values: {}, min: avg, max: avg, stdev: 0, errors: 0,
    comments: [], sources: [], contains_thread_feedback: false })
  const run = (project: string, avg: number | null,
    more: Partial<ExperimentRun> = {}): ExperimentRun => ({ id: project, project_id: project,
      trace_id: project, name: 'x', status: 'SUCCESS', error: null, outputs: {}, latency_seconds: 1,
      total_tokens: null, total_cost: null, reference_example_id: null,
      feedback_stats: avg === null ? {} : { good: scores(avg) }, ...more })
  const row = (...runs: ReturnType<typeof run>[]) =>
    comparedRow({ id: 'e', inputs: {}, outputs: null, metadata: null, created_at: '', runs }, ['a',
      'b'])

  it('mark the best and the worst, and nothing where all are alike', () => {
    const open = row(run('a', 1), run('b', 0.25), run('b', 0.75))
    expect([open.best, open.worst, open.difference]).toEqual([new Set([0]), new Set([1]), 0.5])
    expect(open.cells[1]).toMatchObject({ times: 2, scores: { good: 0.5 } })
    expect(row(run('a', 1), run('b', 1))).toMatchObject({ best: new Set(), difference: 0 })
  })

  it('know what became worse than the first one', () => {
    expect(row(run('a', 1), run('b', 0.5)).isRegression).toBe(true)
    expect(row(run('a', 0.5), run('b', 1)).isRegression).toBe(false)
    expect(row(run('a', 1), run('b', null)).isRegression).toBe(false)
    expect(row(run('a', null), run('b', null, { status: 'ERROR' })).isRegression).toBe(true)
    expect(row(run('b', 0)).isRegression).toBe(false)
  })

  it('sort by the difference, and keep only what became worse', () => {
    const rows = [row(run('a', 0), run('b', 1)), row(run('a', 1), run('b', 0.5)),
      row(run('a', 1), run('b', 1))]
    const at = (options: Parameters<typeof arranged>[1]) =>
      arranged(rows, options).map((each) => rows.indexOf(each))
    expect(at({ by: 'difference', onlyRegressions: false })).toEqual([0, 1, 2])
    expect(at({ by: undefined, onlyRegressions: true })).toEqual([1])
  })

  it('sort by what got worse: first what fails since, then the largest fall', () => {
    const failed = () => row(run('a', 1), run('b', null, { status: 'ERROR' }))
    const rows = [row(run('a', 0), run('b', 1)), row(run('a', 1), run('b', 0.75)), failed(),
      row(run('a', 1), run('b', 0)), failed()]
    expect(
      arranged(rows, { by: 'worse', onlyRegressions: false }).map((each) => rows.indexOf(each)),
    ).toEqual([2, 4, 3, 1, 0])
  })
})

describe('scores of an experiment and of the first one', () => {
  const stat = (avg: number | null) => ({ n: 1, avg, values: {} })

  it('are means without what has none', () => {
    expect(meansOf({ good: stat(0.5), said: stat(null) })).toEqual({ good: 0.5 })
    expect(meansOf(null)).toEqual({})
  })

  it('differ where both have a score and the difference is seen', () => {
    expect(deltasOf({ a: 1, b: 0.5, c: 0.7, d: 0.3 }, { a: 0.75, b: 0.5, c: 0.699 }))
      .toEqual({ a: 0.25 })
    expect(deltasOf({ a: 1 }, undefined)).toEqual({})
    expect([deltaWords(0.25), deltaWords(-1)]).toEqual(['+0.25', '−1'])
  })
})

describe('an experiment', () => {
  const start = '2026-01-01T00:00:00'
  const at = (seconds: number) => Date.parse(`${start}Z`) + seconds * 1_000
  const empty = { start_time: start, end_time: null, last_run_start_time: null }
  const going = { ...empty, last_run_start_time: '2026-01-01T00:05:00.000' }

  it('goes on while its runs come, and a minute longer', () => {
    expect([isRunning(empty, at(59)), isRunning(empty, at(61))]).toEqual([true, false])
    expect([isRunning(going, at(359)), isRunning(going, at(361))]).toEqual([true, false])
    expect(isRunning({ ...going, end_time: '2026-01-01T00:06:00Z' }, at(400))).toBe(true)
  })

  it('is asked for more rarely when nothing happens', () => {
    expect(againMs([empty, going], at(310))).toBeLessThan(againMs([empty, going], at(999)))
  })
})
