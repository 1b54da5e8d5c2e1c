/** Runs the command line of Heddle in a process of its own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

const main = resolve(import.meta.dirname, '../../src/main.ts')

/** Settings in the environment of the tests must not reach the command. */
const env = { ...process.env, PORT: '', HEDDLE_CONFIG: '', HEDDLE_HOST: '', HEDDLE_DATA_DIR: '' }

/** How a command ended. */
export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the command, which does not outlive the test. Resolves with how it ended and what it
 * printed.
 */
export function heddle(...args: readonly string[]): Promise<Ended> {
  return heddleIn({}, ...args)
}

/** Runs the command with more variables in its environment. */
export async function heddleIn(variables: Readonly<Record<string, string>>,
  ...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { env: { ...env, ...variables } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr),
    once(child, 'close') as Promise<[number | null]>])
  return { status, stdout, stderr }
}
