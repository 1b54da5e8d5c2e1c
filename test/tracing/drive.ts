/** Runs a driver of a client in a process of its own, so that all it prints is seen. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { expect } from 'vitest'

import { isNight } from '../support/repeats.ts'

const run = promisify(execFile)

/** Versions of the JavaScript client that people have: the newest by day, all of them by night. */
export const versions = isNight ? ['langsmith', 'langsmith-0.10', 'langsmith-0.6'] : ['langsmith']

/** Bases that a client may be given. */
export const bases = isNight ? ['/api/v1', '/api'] : ['/api/v1']

/** Notes of the clients about their own future, and of the platform below them. */
const ownNotes = /deprecat|will be removed|ExperimentalWarning|--trace-warnings/i

interface Outcome {
  readonly check: string
  readonly error?: string
}

/** A driver: a program, its arguments, and what it has in its environment. */
export interface Driver {
  readonly program?: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Whole lines of the output that the client prints in any case. None of them warns. */
  readonly says?: RegExp
}

/** Runs the driver. All it checks must pass, `least` checks or more, and it may print no more. */
export async function expectToPass({ program = process.execPath, args, env, says }: Driver,
  least: number): Promise<void> {
  const { stdout, stderr } = await run(program, [...args], {
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'], ...env },
    maxBuffer: 16 * 1024 * 1024,
  })
  const lines = stdout.split('\n').filter((line) => line !== '')
  const outcomes = lines.filter((line) => line.startsWith('{"check"'))
    .map((line) => JSON.parse(line) as Outcome)
  const printed = [
    ...lines.filter((line) => !line.startsWith('{"check"') && says?.test(line) !== true),
    ...stderr.split('\n').filter((line) => line.trim() !== '' && !ownNotes.test(line)),
  ]
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  expect(outcomes.length).toBeGreaterThanOrEqual(least)
  expect(printed).toEqual([])
}
