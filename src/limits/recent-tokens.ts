/** Requests let through recently, in spans of the interval: exact enough, and cheap. */

import type { RecentAdmits } from './limit-counter.ts'

const spansPerInterval = 64

/** Remembers tokens of one limit for one interval. */
export class RecentTokens {
  readonly #intervalMs: number
  readonly #spanMs: number
  /** The oldest first. */
  readonly #spans: { readonly endMs: number; tokens: number }[] = []
  #sum = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
    this.#spanMs = intervalMs / spansPerInterval
  }

  add(nowMs: number, tokens: number): void {
    this.#drop(nowMs)
    this.#sum += tokens
    const last = this.#spans.at(-1)
    if (last !== undefined && nowMs < last.endMs) last.tokens += tokens
    else this.#spans.push({ endMs: nowMs + this.#spanMs, tokens })
  }

  /** At least what was let through within the interval before now. */
  sum(nowMs: number): number {
    this.#drop(nowMs)
    return this.#sum
  }

  /** Age (at least) and number of tokens, without the newest `without` ones. */
  recent(nowMs: number, without: number): RecentAdmits {
    this.#drop(nowMs)
    const spans: (readonly [agoMs: number, tokens: number])[] = []
    let left = this.#sum - without
    for (const { endMs, tokens } of this.#spans) {
      if (left <= 0) break
      spans.push([Math.max(0, nowMs - endMs), Math.min(tokens, left)])
      left -= tokens
    }
    return spans
  }

  #drop(nowMs: number): void {
    while (this.#spans.length > 0 && this.#spans[0]!.endMs < nowMs - this.#intervalMs) {
      this.#sum -= this.#spans.shift()!.tokens
    }
  }
}
