/** A program that ends by itself, or is ended when its time is up. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

/** How it ended. */
export interface Ended {
  readonly code: number | null
  readonly output: string
  /** Whether its time was up. */
  readonly isLate: boolean
}

/** What to run. */
export interface Program {
  readonly command: readonly string[]
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
  readonly seconds: number
}

/** Runs it. The processes that it started end with it. */
export function run({ command: [file, ...args], folder, variables, seconds }: Program): Promise<
  Ended
> {
  return new Promise((done) => {
    const child = spawn(file!, args, { cwd: folder, env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    leads(child)
    let output = ''
    let isLate = false
    const hear = (chunk: Buffer) => void (output += chunk.toString())
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const timer = setTimeout(() => {
      isLate = true
      endGroup(child.pid)
    }, seconds * 1_000)
    const end = (code: number | null) => {
      clearTimeout(timer)
      done({ code, output, isLate })
    }
    child.on('error', ({ message }) => {
      output += message
      end(null)
    })
    child.on('close', end)
  })
}

/** Leaders of groups that run. */
const leaders = new Set<ChildProcess>()

process.once('exit', () => leaders.forEach(({ pid }) => endGroup(pid)))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1))
}

/** Has the group of a program end with this process, however that ends. */
export function leads(child: ChildProcess): void {
  leaders.add(child)
  child.once('exit', () => leaders.delete(child))
}

/** Ends a program that leads a group, and all that it started. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** The line of an output that says what is wrong: of Heddle, of an error, or the last one. */
export function reasonIn({ output, isLate }: Ended, seconds: number): string {
  if (isLate) return `did not end in ${seconds} s`
  const lines = output.split('\n').map((line) => line.trim()).filter(Boolean)
  const said = lines.findLast((line) => line.startsWith('heddle: ')) ??
    lines.findLast((line) => /^(?:\w*Error\b|npm error|ERR_|error )/.test(line)) ?? lines.at(-1)
  return (said ?? 'no word').replace(/^heddle: /, '')
}
