/** The last line of a whole run: sums that are true, and an exit code that agrees. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

let folder: string
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'heddle-summary-')) })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A report in the form of vitest's JSON reporter. */
function report(name: string, passed: number, failed: number, unloaded = 0): string {
  const file = join(folder, name)
  const tests = Array.from({ length: failed }, () => ({ status: 'failed' }))
  writeFileSync(file, JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: [
      { status: failed > 0 ? 'failed' : 'passed', assertionResults: tests },
      ...Array.from({ length: unloaded }, () => ({ status: 'failed', assertionResults: [] })),
    ],
  }))
  return relative(root, file)
}

function summary(...reports: string[]) {
  const args = [join(root, 'scripts/summary.mjs'), ...reports]
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { last: stdout.trimEnd().split('\n').at(-1), status }
}

it('sums what passed and is content', () => {
  expect(summary(report('a', 3, 0), report('b', 4, 0)))
    .toEqual({ last: '7 passed, 0 failed', status: 0 })
})

it('counts what failed, and files that could not be loaded', () => {
  expect(summary(report('a', 3, 1), report('b', 4, 0, 2)))
    .toEqual({ last: '7 passed, 3 failed', status: 1 })
})

it('is not content where a report is missing', () => {
  expect(summary(report('a', 3, 0), 'nowhere.json'))
    .toEqual({ last: '3 passed, 0 failed', status: 1 })
})
