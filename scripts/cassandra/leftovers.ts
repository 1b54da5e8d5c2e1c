/** What an earlier start may have left in a directory: running nodes, data of another cluster. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { pidFile } from './node-process.ts'

/** Ends the nodes that a dead starter left running there. Rejects if the starter is alive. */
export async function endLeftovers(directory: string): Promise<void> {
  const left = (existsSync(directory) ? readdirSync(directory) : [])
    .map((name) => join(directory, name))
    .map((node) => ({ node, pid: numberIn(pidFile(node)) }))
    .filter(({ node, pid }) => runsOn(node, pid))
  const starter = numberIn(join(directory, 'starter.pid'))
  if (left.length > 0 && isAlive(starter)) {
    throw new Error(`Process ${starter} runs nodes on ${directory}: stop it, or name another` +
      ' directory.')
  }
  for (const { node, pid } of left) {
    process.kill(pid!, 'SIGKILL')
    while (runsOn(node, pid)) await pause(20)
  }
}

/** Marks the directory as this process's. Throws if it has data of a cluster of another shape. */
export function takeDirectory(directory: string, shape: string): void {
  const before = textOf(join(directory, 'shape')) ?? shape
  if (before !== shape) {
    throw new Error(`${directory} has the data of ${before}, and this is ${shape}: start it as` +
      ' it was, or name another directory.')
  }
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'shape'), shape)
  writeFileSync(join(directory, 'starter.pid'), String(process.pid))
}

/** True if the process is the node on that data, as process ids are reused. */
function runsOn(node: string, pid: number | undefined): boolean {
  return pid !== undefined && commandOf(pid).includes(`storagedir=${node}`)
}

/** The command line of a process; empty if it has ended. */
function commandOf(pid: number): string {
  if (process.platform === 'linux') return textOf(`/proc/${pid}/cmdline`) ?? ''
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

function numberIn(file: string): number | undefined {
  return Number.parseInt(textOf(file) ?? '') || undefined
}

/** The text of a file; undefined if it cannot be read. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
