/**
 * Notices that the wall clock was set. It can be compared with nothing but the time that passes,
 * and over a restart with what it showed before.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Env } from '../../cluster/index.ts'

/** A jump of the wall clock. */
export interface ClockJump {
  /** Time that the clock showed after it. */
  readonly atMs: number
  /** Negative if it went back. */
  readonly byMs: number
}

interface Note {
  /** Time that the clock showed at the last start, and after the last jump. */
  readonly seenMs: number
  readonly jump?: ClockJump
}

/** Clock to watch, and the receiver of its jumps. */
export interface ClockWatchParts {
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'every' | 'log'>
  /** The data directory, where the last jump is noted for the doctor. */
  readonly directory: string
  /** Called when the clock shows less than before: all that waits for a time has to look again. */
  wentBack(): void
}

const noteName = 'clock.json'
/** Milliseconds between looks, as the system reports no change of the clock. */
const lookMs = 10_000
/** Jump below which a change counts as the usual correction of a clock. */
const leastJumpMs = 2_000

/** Watches until the returned function is called. */
export function watchClock({ env, directory, wentBack }: ClockWatchParts): () => void {
  const jumped = (byMs: number) => {
    const atMs = env.nowMs()
    env.log.warn(byMs < 0
      ? 'The clock of this machine went back. Times at which something is due follow it.'
      : 'The clock of this machine went on at once: it was set, or the machine slept.', {
      seconds: Math.round(byMs / 1_000),
    })
    note(directory, { seenMs: atMs, jump: { atMs, byMs } })
    if (byMs < 0) wentBack()
  }
  const before = read(directory)
  // A clock that went on meanwhile only shows how long nothing was served.
  if (before !== undefined && env.nowMs() < before.seenMs - leastJumpMs) {
    jumped(env.nowMs() - before.seenMs)
  } else note(directory, { ...before, seenMs: env.nowMs() })
  let offsetMs = env.nowMs() - env.monotonicMs()
  return env.every(lookMs, () => {
    const byMs = env.nowMs() - env.monotonicMs() - offsetMs
    offsetMs += byMs
    if (Math.abs(byMs) >= leastJumpMs) jumped(byMs)
  })
}

/** The last jump that a server noticed; undefined if none is known. */
export function lastClockJump(directory: string): ClockJump | undefined {
  return read(directory)?.jump
}

function read(directory: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, noteName), 'utf8')) as Note
  } catch {
    return undefined
  }
}

function note(directory: string, { seenMs, jump }: Note): void {
  const file = join(directory, noteName)
  try {
    writeFileSync(`${file}.draft`, JSON.stringify({ seenMs, jump }), { mode: 0o600 })
    renameSync(`${file}.draft`, file)
  } catch {
    // The log says it all the same.
  }
}
