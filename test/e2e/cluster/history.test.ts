/** The checker of histories: it accepts valid histories, and finds every kind of fault. */

import { describe, expect, it } from 'vitest'
import { faultsOf } from './history.ts'
import type { Attempt, Execution, ThreadHistory } from './history.ts'

const attempt = (word: string, more: Partial<Attempt> = {}): Attempt => ({
  word,
  strategy: 'enqueue',
  act: 1,
  answer: 'accepted',
  runId: `run-${word}`,
  followed: true,
  seen: [1, 2].map((step) => ({ line: `${word} ${step}`, atMs: 1_000 })),
  ...more,
})
const run = (word: string, status = 'success') => ({ word, status, runId: `run-${word}` })
const executed = (line: string, atMs = 500, pid = 1): Execution => ({ threadId: 't',
  word: line.split(' ')[0]!, line, pid, atMs })
/** Lines, each executed by the process with that number. */
const executedBy = (...lines: [line: string, pid: number][]) =>
  lines.map(([line, pid]) => executed(line, 500, pid))

/** Two runs of two steps, one after the other. */
const good: ThreadHistory = {
  threadId: 't',
  steps: 2,
  attempts: [attempt('a'), attempt('b')],
  runs: [run('b'), run('a')],
  lines: ['a 1', 'a 2', 'b 1', 'b 2'],
  executions: ['a 1', 'a 2', 'a 2', 'b 1', 'b 2'].map((line) => executed(line)),
}

const silent = { seen: [], followed: false }

/** The second run interrupted the first after its first line. */
const cut: Partial<ThreadHistory> = {
  runs: [run('a', 'interrupted'), run('b')],
  lines: ['a 1', 'b 1', 'b 2'],
  attempts: [attempt('a', { seen: [{ line: 'a 1', atMs: 1_000 }] }),
    attempt('b', { strategy: 'interrupt' })],
}

describe('a history is valid', () => {
  it.each<[string, Partial<ThreadHistory>]>([
    ['where one run follows the other', {}],
    ['where a run was interrupted', cut],
    ['where a run learned one line late that it was interrupted', { ...cut,
      executions: executedBy(['a 1', 1], ['b 1', 1], ['a 2', 1], ['b 2', 1]) }],
    ['where a run was rolled back', { runs: [run('b')], lines: ['b 1', 'b 2'],
      attempts: [attempt('a'), attempt('b', { strategy: 'rollback' })] }],
    ['where a request without an answer made a run', {
      attempts: [attempt('a'), attempt('b', { answer: 'unknown', runId: undefined, ...silent })],
    }],
    ['where a request without an answer made no run', { runs: [run('a')], lines: ['a 1', 'a 2'],
      attempts: [attempt('a'), attempt('b', { answer: 'unknown', ...silent })] }],
    ['where a request was refused', { runs: [run('a')], lines: ['a 1', 'a 2'],
      attempts: [attempt('a'), attempt('b', { answer: 'refused', ...silent })] }],
    ['where what a process began died with it', { executions: executedBy(
      ['a 1', 1],
      ['b 1', 1],
      ['a 2', 2],
      ['b 1', 2],
      ['b 2', 2],
    ) }],
    ['where it went from one process to another and back', { executions: executedBy(
      ['a 1', 1],
      ['a 2', 2],
      ['b 1', 2],
      ['b 2', 1],
    ) }],
  ])('%s', (_, more) => {
    expect(faultsOf({ ...good, ...more })).toEqual([])
  })
})

describe('a history is faulty', () => {
  it.each<[string, Partial<ThreadHistory>, string]>([
    ['that lost an acknowledged run', { runs: [run('a')], lines: ['a 1', 'a 2'] },
      'acknowledged run of b is lost'],
    ['that lost a run by a rollback long after it was over', { runs: [run('b')],
      lines: ['b 1', 'b 2'],
      attempts: [attempt('a'), attempt('b', { strategy: 'rollback', act: 2 })] },
      'acknowledged run of a is lost'],
    ['with two runs of one request', { runs: [run('a'), run('b'), { ...run('b'), runId: 'x' }] },
      '2 runs of one request (b)'],
    ['with another id in an answer', { attempts: [attempt('a'), attempt('b', { runId: 'x' })] },
      'b is run run-b, and its client was told x'],
    ['with a run of a refused request', {
      attempts: [attempt('a'), attempt('b', { answer: 'unavailable', ...silent })],
    }, 'b has a run, and its request was unavailable'],
    ['with an unrequested run', { runs: [...good.runs, run('c')] }, 'was asked for by nobody'],
    ['with a run that is not over', { runs: [run('a'), run('b', 'pending')] }, 'is pending'],
    ['with a run that failed', { runs: [run('a'), run('b', 'error')] }, '(b) is error'],
    ['that lost a step', { lines: ['a 1', 'b 1', 'b 2'] }, 'a is done with 1 lines of 2'],
    ['with a step twice', { lines: ['a 1', 'a 2', 'b 1', 'b 1', 'b 2'] },
      'lines of b are b 1,b 1,b 2'],
    ['that ran twice to the end', { lines: ['a 1', 'a 2', 'a 3', 'b 1', 'b 2'] },
      'a has 3 lines of 2'],
    ['that mixed two runs', { lines: ['a 1', 'b 1', 'a 2', 'b 2'] }, 'a is mixed with another one'],
    ['in another order', { lines: ['b 1', 'b 2', 'a 1', 'a 2'] }, 'runs are in the order b,a'],
    ['with lines and no run', { runs: [run('a')],
      attempts: [attempt('a'), attempt('b', { answer: 'unknown', ...silent })] },
      'b has lines and no run'],
    ['whose stream sent a step twice', {
      attempts: [attempt('a'),
        attempt('b', { seen: ['b 1', 'b 1', 'b 2'].map((line) => ({ line, atMs: 1_000 })) })],
    }, 'the stream of b told b 1,b 1,b 2'],
    ['whose stream sent a step that the thread does not hold', { lines: ['a 1', 'a 2'],
      runs: [run('a'), run('b', 'interrupted')] },
      'the stream of b told b 1,b 2, which the thread has not'],
    ['whose stream ended too soon', {
      attempts: [attempt('a'), attempt('b', { seen: [{ line: 'b 1', atMs: 1_000 }] })],
    }, 'ended after 1 of 2'],
    ['with two runs at once', { executions: ['a 1', 'b 1', 'a 2'].map((line) => executed(line)) },
      'a ran while another one ran'],
    ['with two runs at once, one of which was cut two lines ago', { ...cut, executions: executedBy(
      ['a 1', 1],
      ['b 1', 1],
      ['a 2', 1],
      ['a 3', 1],
      ['b 2', 1],
    ) }, 'a ran while another one ran'],
    ['with two runs at once, one of which was cut and has its line', { ...cut,
      lines: ['a 1', 'a 2', 'b 1', 'b 2'], executions: executedBy(
        ['a 1', 1],
        ['b 1', 1],
        ['a 2', 1],
        ['b 2', 1],
      ) }, 'a ran while another one ran'],
    ['with two runs at once, none of which was cut', { executions: executedBy(
      ['a 1', 1],
      ['a 2', 1],
      ['b 1', 1],
      ['a 3', 1],
      ['b 2', 1],
    ) }, 'a ran while another one ran'],
    ['with two runs at once in a process that took over', { executions: executedBy(
      ['a 1', 1],
      ['a 1', 2],
      ['b 1', 2],
      ['a 2', 2],
    ) }, 'a ran while another one ran'],
    ['with a process that goes on beside the next', { executions: executedBy(
      ['a 1', 1],
      ['b 1', 1],
      ['a 2', 2],
      ['b 2', 1],
    ) }, 'b ran while another one ran'],
    ['that executed a step again after streaming it', {
      executions: [...good.executions, executed('b 2', 2_000)],
    }, 'b 2 was executed again after it was told'],
  ])('%s', (_, more, fault) => {
    expect(faultsOf({ ...good, ...more }).join()).toContain(fault)
  })
})
