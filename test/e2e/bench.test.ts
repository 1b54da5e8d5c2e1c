/** The benchmark runs from end to end; its figures are not judged here. */

import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

it('The benchmark prints a line for everything that is measured', async () => {
  const { stdout } = await promisify(execFile)(process.execPath,
    ['test/bench/bench.ts', '--quick'], { cwd: root })
  const measures = ['run-wait, 1 client', 'runs per second, 32 clients', 'first event',
    'updates stream', 'history of 10', 'state, per byte', 'copy, per byte', 'bytes of the log']
  for (const measure of measures) {
    expect(stdout).toMatch(new RegExp(`^\\| heddle: ${measure}.*\\d.*(met|missed) *\\|$`, 'm'))
  }
  expect(stdout).not.toContain('NaN')
}, 120_000)
