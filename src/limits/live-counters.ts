/** The counters in the memory of one member, which can be looked at without being made. */

import type { LimitKey } from './limit-table.ts'

/** Tokens of a limit that count now. `waitMs` is the time until some are free; 0 if all are. */
export interface CounterUse {
  readonly used: number
  readonly waitMs: number
}

/** Finds counters by what they count. Counters enter and leave by themselves. */
export class LiveCounters {
  readonly #counters = new Map<string, () => CounterUse>()

  get size(): number {
    return this.#counters.size
  }

  add(key: LimitKey, use: () => CounterUse): void {
    this.#counters.set(limitKeyText(key), use)
  }

  /** Ignores a counter that a newer one of the same key has replaced. */
  remove(key: LimitKey, use: () => CounterUse): void {
    if (this.#counters.get(limitKeyText(key)) === use) this.#counters.delete(limitKeyText(key))
  }

  /** Undefined if there is no such counter here. */
  useOf(key: LimitKey): CounterUse | undefined {
    return this.#counters.get(limitKeyText(key))?.()
  }
}

/** One text for a limit and a subject. */
export function limitKeyText({ row, who: subject }: LimitKey): string {
  return `${row} ${subject}`
}
