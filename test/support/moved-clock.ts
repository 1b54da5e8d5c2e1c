/** A wall clock for servers that a test moves, so that minutes need not pass. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { clockVariable } from './shifted-clock.ts'

const preload = resolve(import.meta.dirname, 'shifted-clock.ts')

/** A clock that servers share. */
export interface MovedClock {
  /** Variables for the servers that go by it. */
  readonly env: Readonly<Record<string, string>>
  /** What it shows. */
  nowMs(): number
  /** Sets it. The servers with these process ids notice at once, others at their next start. */
  set(ms: number, pids: readonly number[]): Promise<void>
  close(): Promise<void>
}

/** Makes a clock that shows `startMs`. */
export async function movedClock(startMs: number): Promise<MovedClock> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-clock-'))
  const file = join(folder, 'ahead')
  let aheadMs = 0
  const set = async (ms: number, pids: readonly number[]) => {
    aheadMs = ms - Date.now()
    await writeFile(file, String(aheadMs))
    for (const pid of pids) process.kill(pid, 'SIGUSR2')
  }
  await set(startMs, [])
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, [clockVariable]: file },
    nowMs: () => Date.now() + aheadMs,
    set,
    close: () => rm(folder, { recursive: true, force: true }),
  }
}
