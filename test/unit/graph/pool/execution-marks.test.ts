/** The file that says after a crash what was being executed. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { clearMark, ExecutionMarks, markRun } from '../../../../src/graph/pool/execution-marks.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'heddle-marks-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

const run = (runId: string, more = {}) => ({ tenant: '', threadId: `t-${runId}`, runId, ...more })

describe('marks', () => {
  it('tell the next process the last run of each worker, until they are forgotten', () => {
    const directory = folder()
    const before = new ExecutionMarks(directory, 'one')
    const [first, second, third] = [before.take(), before.take(), before.take()]
    markRun(first, run('a-much-longer-name-than-the-next-one'))
    markRun(first, run('a'))
    markRun(second, run('b'))
    clearMark(second)
    markRun(third, run('ünïcode 💥', { tenant: 'acme\nx' }))
    const next = new ExecutionMarks(directory, 'two')
    markRun(next.take(), run('own'))
    const left = [run('a'), run('ünïcode 💥', { tenant: 'acme\nx' })]
    expect(next.left()).toEqual(left)
    expect(next.left()).toEqual(left)
    next.forgetEarlier()
    expect(next.left()).toEqual([])
    next.close()
    expect(readdirSync(directory)).toEqual([])
    before.close()
  })

  it('are given up with their worker, and its place is used again', () => {
    const directory = folder()
    const before = new ExecutionMarks(directory, 'one')
    const mark = before.take()
    markRun(mark, run('a'))
    before.free(mark)
    expect(before.take()).toEqual(mark)
    expect(new ExecutionMarks(directory, 'two').left()).toEqual([])
  })

  it('that cannot be written do not harm the run', () => {
    const before = new ExecutionMarks(folder(), 'one')
    const mark = before.take()
    before.close()
    markRun(mark, run('a'))
    clearMark(mark)
  })

  it('blame nobody if they are damaged, or if a name is too long', () => {
    const directory = folder()
    writeFileSync(join(directory, 'executing-torn'), '["","t","r"')
    writeFileSync(join(directory, 'executing-edit'), '["","t",""]\n')
    writeFileSync(join(directory, 'executing-odd'), '{"a":1}\n')
    const before = new ExecutionMarks(directory, 'one')
    markRun(before.take(), run('x'.repeat(2_000)))
    expect(new ExecutionMarks(directory, 'two').left()).toEqual([])
  })
})
