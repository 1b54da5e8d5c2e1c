/** Numbers the effects of one attempt of a task. */

interface Slot {
  readonly hash: string
  /** True if it was not done, so that the code's own retry gets its number. */
  hasFailed: boolean
}

/** The effects that one attempt of a task has begun, by rule. */
export class EffectSlots {
  readonly #byRule = new Map<string, Slot[]>()

  /**
   * The number of the next effect. One that failed is done again with its number: the code retries
   * it. Two that are in progress at once have two.
   */
  take(rule: string, hash: string): number {
    const slots = this.#byRule.get(rule) ?? []
    this.#byRule.set(rule, slots)
    const retried = slots.findIndex((slot) => slot.hasFailed && slot.hash === hash)
    if (retried < 0) return slots.push({ hash, hasFailed: false }) - 1
    slots[retried]!.hasFailed = false
    return retried
  }

  failed(rule: string, ordinal: number): void {
    this.#byRule.get(rule)![ordinal]!.hasFailed = true
  }
}
