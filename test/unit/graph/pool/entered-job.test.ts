/** What a worker shows of the job whose code it executes: in memory, and in a file. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { EnteredJob } from '../../../../src/graph/pool/entered-job.ts'
import { ExecutionMarks } from '../../../../src/graph/pool/execution-marks.ts'

const run = (runId: string) => ({ tenant: 'local', threadId: `t-${runId}`, runId })

/** An entered job; `left` is what a crash would leave, `endTurn` ends a turn of the loop. */
function worker() {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-entered-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const entered = new Int32Array(2)
  let turn: (() => void)[] = []
  const mark = new ExecutionMarks(directory, 'one').take()
  const job = new EnteredJob({ entered, mark }, (ended) => void turn.push(ended))
  const next = new ExecutionMarks(directory, 'two')
  return { job, entered, left: () => next.left().map(({ runId }) => runId), endTurn: () => {
    const ended = turn
    turn = []
    for (const each of ended) each()
  } }
}

describe('an entered job', () => {
  it('is in the file as soon as its code is entered for the first time in a turn', () => {
    const { job, left, endTurn } = worker()
    job.enter(1, run('a'))
    expect(left()).toEqual(['a'])
    job.enter(2, run('b'))
    expect(left()).toEqual(['b'])
    endTurn()
    job.enter(1, run('a'))
    expect(left()).toEqual(['a'])
  })

  it('is written once in a turn in which runs alternate, and the last one when it ends', () => {
    const { job, entered, left, endTurn } = worker()
    for (let times = 0; times < 3; times++) {
      job.enter(1, run('a'))
      job.enter(2, run('b'))
    }
    job.enter(1, run('a'))
    expect([...entered]).toEqual([1, 7])
    expect(left()).toEqual(['b'])
    endTurn()
    expect(left()).toEqual(['a'])
  })

  it('that is a question blames no run', () => {
    const { job, left } = worker()
    job.enter(1, run('a'))
    job.enter(2)
    expect(left()).toEqual([])
  })
})
