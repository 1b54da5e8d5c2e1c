/**
 * Pauses between tries of work that failed.
 *
 * Each pause is up to twice as long as the one before, because what is too busy to answer needs
 * rest. Chance shortens each one, at most to its half, so that many who failed at the same moment
 * do not come back at the same moment.
 */

import type { Env } from '../runtime/env.ts'
import { pause } from './pause.ts'

/** The first pause and the longest one, before chance shortens them. */
export interface BackoffRange {
  readonly firstMs: number
  readonly longestMs: number
}

/** The longest that the pause after `tries` tries can be. */
export function pauseMsMax({ firstMs, longestMs }: BackoffRange, tries: number): number {
  return Math.min(longestMs, firstMs * 2 ** (tries - 1))
}

/** Shortens `ms` by chance, at most to its half; `random` is from 0 to below 1. */
export function jittered(ms: number, random: number): number {
  return ms * (1 + random) / 2
}

/** The pause after `tries` tries; `random` is from 0 to below 1. */
export function backoffMs(range: BackoffRange, tries: number, random: number): number {
  return jittered(pauseMsMax(range, tries), random)
}

/** The pauses of one piece of work. */
export class Backoff {
  readonly #env: Pick<Env, 'after' | 'random'>
  readonly #range: BackoffRange
  #tries = 0

  constructor(env: Pick<Env, 'after' | 'random'>, range: BackoffRange) {
    this.#env = env
    this.#range = range
  }

  /** The pause after one more try. */
  nextMs(): number {
    return backoffMs(this.#range, ++this.#tries, this.#env.random())
  }

  /** Waits for `nextMs`. */
  async pause(): Promise<void> {
    await pause(this.#env, this.nextMs())
  }

  /** The next pause is the first one again: something went well. */
  reset(): void {
    this.#tries = 0
  }
}
