/** Runs the command line of Heddle: in this process, or in one of its own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

import { serverProgram } from '../../scripts/server-program.ts'
import { runHeddle } from '../../src/cli/heddle.ts'
import { readProject } from '../../src/graph/index.ts'
import type { Settings } from '../../src/settings/index.ts'

/** Settings in the environment of the tests must not reach the command. */
const env = { ...process.env, PORT: '', HEDDLE_CONFIG: '', HEDDLE_HOST: '', HEDDLE_DATA_DIR: '' }

/** How a command ended. */
export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in this process. Resolves with how it ended and what it printed. */
export function heddle(...args: readonly string[]): Promise<Ended> {
  return heddleIn({}, ...args)
}

/** Runs the command in this process, with more variables in its environment. */
export async function heddleIn(variables: Readonly<Record<string, string>>,
  ...args: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  const status = await runHeddle(args, {
    environment: { ...env, ...variables },
    workingFolder: process.cwd(),
    serve,
    print: (more) => void (stdout += more),
    note: (more) => void (stderr += more),
    isTerminal: false,
    readSecret: () => Promise.resolve(''),
    readLine: () => Promise.resolve(''),
    interrupted: () => () => {},
  })
  return { status, stdout, stderr }
}

/** Reads the project, as every start begins, and goes no further. */
async function serve({ config }: Settings): Promise<void> {
  await readProject(config)
}

/**
 * Runs the command in a process of its own, which does not outlive the test. Resolves with how it
 * ended and what it printed.
 */
export function heddleProcess(...args: readonly string[]): Promise<Ended> {
  return heddleProcessIn({}, ...args)
}

/** Runs the command in such a process, with more variables in its environment. */
export async function heddleProcessIn(variables: Readonly<Record<string, string>>,
  ...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [serverProgram, ...args], { env: { ...env, ...variables } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr),
    once(child, 'close') as Promise<[number | null]>])
  return { status, stdout, stderr }
}
