/** The benchmark as its tests call it: few samples, whose figures are not judged. */

import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Measures of every store that must not grow. */
export const growth = ['updates stream', 'history of 10', 'state, per byte', 'copy, per byte',
  'bytes of the log']

/** Runs it and returns its output. */
export async function quickBench(...options: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/bench/bench.ts', '--quick',
    ...options], { cwd: root })
  expect(stdout).not.toContain('NaN')
  return stdout
}
