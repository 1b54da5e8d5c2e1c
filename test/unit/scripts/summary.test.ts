/** The summary of `npm test`: what failed, the sums, and the exit code. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-summary-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A report in the form of vitest's JSON reporter. */
function report(name: string, passed: number, failed: number, unloaded = 0): string {
  const file = join(folder, name)
  const tests = [
    ...Array.from({ length: failed },
      (_, index) => ({ status: 'failed', fullName: `a promise ${index}`,
        failureMessages: ['it was not kept\nat the first line'] })),
    { status: 'passed', fullName: 'a promise', failureMessages: [] },
  ]
  writeFileSync(file, JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: [
      { status: failed > 0 ? 'failed' : 'passed', name: join(root, 'test/a.test.ts'),
        assertionResults: tests },
      ...Array.from({ length: unloaded },
        () => ({ status: 'failed', assertionResults: [], name: join(root, 'test/b.test.ts'),
          message: 'no such module' })),
    ],
  }))
  return relative(root, file)
}

const summary = (...reports: string[]) => summaryAfter('0', ...reports)

function summaryAfter(outcome: '0' | '1', ...reports: string[]) {
  const args = [join(root, 'scripts/summary.mjs'), outcome, ...reports]
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  return { before: lines.slice(0, -1).join('\n'), last: lines.at(-1), status }
}

it('The summary adds up what passed, and exits with 0.', () => {
  expect(summary(report('a', 3, 0), report('b', 4, 0)))
    .toEqual({ before: '', last: '7 passed, 0 failed', status: 0 })
})

it('Failed tests and files that could not be loaded count as failed.', () => {
  expect(summary(report('a', 3, 1), report('b', 4, 0, 2)))
    .toMatchObject({ last: '7 passed, 3 failed', status: 1 })
})

it('Failures are named, with the beginning of the reason.', () => {
  expect(summary(report('a', 3, 1, 1)).before).toBe([
    'failed: test/a.test.ts: a promise 0',
    '    it was not kept',
    '    at the first line',
    'failed: test/b.test.ts: (not loaded)',
    '    no such module',
  ].join('\n'))
})

it('A file whose process died is named, with the tests that were left.', () => {
  const name = join(root, 'test/c.test.ts')
  const tests = ['passed', 'pending', 'pending'].map((status, index) => ({ status,
    fullName: `a promise ${index}`, failureMessages: [] })
  )
  writeFileSync(join(folder, 'died'),
    JSON.stringify({ numPassedTests: 1,
      testResults: [{ status: 'passed', name, assertionResults: tests }] }))
  expect(summary(relative(root, join(folder, 'died')))).toEqual({
    before: 'failed: test/c.test.ts: (its process died with 2 tests to go)\n' +
      '    the first of them: a promise 1',
    last: '1 passed, 1 failed',
    status: 1,
  })
})

it('A file whose process died before its first test is named.', () => {
  const name = join(root, 'test/c.test.ts')
  writeFileSync(join(folder, 'early'),
    JSON.stringify({ numPassedTests: 0,
      testResults: [{ status: 'passed', name, assertionResults: [], message: '' }] }))
  expect(summaryAfter('1', relative(root, join(folder, 'early')))).toEqual({
    before: 'failed: test/c.test.ts: (not loaded)\n    see above',
    last: '0 passed, 1 failed',
    status: 1,
  })
})

it('A file that failed outside its tests is distinguished from one that could not be loaded.',
  () => {
    const name = join(root, 'test/c.test.ts')
    writeFileSync(join(folder, 'beside'),
      JSON.stringify({ numPassedTests: 1,
        testResults: [{ status: 'failed', name, message: 'no end',
          assertionResults: [{ status: 'passed', fullName: 'a promise',
            failureMessages: [] }] }] }))
    expect(summaryAfter('1', relative(root, join(folder, 'beside')))).toMatchObject({
      before: 'failed: test/c.test.ts: (beside its tests)\n    no end',
      last: '1 passed, 1 failed',
    })
  })

it('A failure that is in no report counts as one.', () => {
  expect(summaryAfter('1', report('a', 3, 0))).toEqual({
    before: 'failed: something outside of all tests; see above',
    last: '3 passed, 1 failed',
    status: 1,
  })
  expect(summaryAfter('1', report('a', 3, 1))).toMatchObject({ last: '3 passed, 1 failed' })
})

it('A run without a report counts as failed.', () => {
  expect(summary(report('a', 3, 0), 'nowhere.json')).toEqual({
    before: 'failed: nowhere.json is missing: that run did not come to its end.',
    last: '3 passed, 1 failed',
    status: 1,
  })
})
