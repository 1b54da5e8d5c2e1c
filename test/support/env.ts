/** An Env whose time stands still until a test moves it, with ids by number and a kept log. */

import type { Env, Details, Log } from '../../cluster/index.ts'

/** A line that was logged. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly details: Details
}

/** An Env for tests. */
export interface VirtualEnv extends Env {
  /** Moves both clocks on and calls the timers that are due, in order of their times. */
  advance(ms: number): void
  /** The same, but a timer that repeats is called once at most. */
  skip(ms: number): void
  /** Number of timers that are set. */
  timers(): number
  readonly lines: readonly LogLine[]
}

interface Timer {
  readonly id: number
  dueMs: number
  /** 0 for a timer that fires once. */
  readonly periodMs: number
  readonly fn: () => void
}

/** Makes an Env whose time begins at `startMs`, by default 2026-01-01. */
export function virtualEnv(startMs = Date.UTC(2026, 0, 1)): VirtualEnv {
  const timers = new Map<number, Timer>()
  const lines: LogLine[] = []
  let elapsedMs = 0
  let ids = 0

  const set = (ms: number, periodMs: number, fn: () => void) => {
    const timer: Timer = { id: ++ids, dueMs: elapsedMs + ms, periodMs, fn }
    timers.set(timer.id, timer)
    return () => void timers.delete(timer.id)
  }
  const nextDue = (untilMs: number) => {
    let next: Timer | undefined
    for (const timer of timers.values()) {
      const isSooner = next === undefined || timer.dueMs < next.dueMs ||
        (timer.dueMs === next.dueMs && timer.id < next.id)
      if (timer.dueMs <= untilMs && isSooner) next = timer
    }
    return next
  }
  const advance = (ms: number) => {
    const untilMs = elapsedMs + ms
    for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
      elapsedMs = timer.dueMs
      if (timer.periodMs === 0) timers.delete(timer.id)
      else timer.dueMs += timer.periodMs
      timer.fn()
    }
    elapsedMs = untilMs
  }

  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    idleMs: () => elapsedMs,
    after: (ms, fn) => set(ms, 0, fn),
    every: (ms, fn) => set(ms, ms, fn),
    uuid: () => numbered('4', ++ids),
    uuid7: () => numbered('7', ++ids),
    // Almost one: pauses are as long as they may be.
    random: () => 1 - Number.EPSILON,
    secret: () => `secret-${++ids}`.padEnd(43, '_'),
    log: keptLog(lines, {}),
    lines,
    timers: () => timers.size,
    advance,
    skip(ms) {
      for (const timer of timers.values()) {
        const missed = Math.floor((elapsedMs + ms - timer.dueMs) / timer.periodMs)
        if (timer.periodMs > 0 && missed > 0) timer.dueMs += missed * timer.periodMs
      }
      advance(ms)
    },
  }
}

function numbered(version: string, id: number): string {
  return `00000000-0000-${version}000-8000-${id.toString(16).padStart(12, '0')}`
}

function keptLog(lines: LogLine[], own: Details): Log {
  const keep = (level: LogLine['level']) => (message: string, details: Details = {}) => {
    lines.push({ level, message, details: { ...own, ...details } })
  }
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: (details) => keptLog(lines, { ...own, ...details }),
  }
}
