/** Events whose data is still on its way: nobody hears of a later one before it is there. */

import type { JsonText } from '../checkpoint/index.ts'
import type { FeedEntry } from './run-feed.ts'

export class WithheldEvents {
  #entries: FeedEntry[] = []

  /** These come behind what is withheld, whose data is `texts`. All that can be told now. */
  next(entries: readonly FeedEntry[], texts: readonly JsonText[]): readonly FeedEntry[] {
    if (this.#entries.length === 0 && entries.every(isWhole)) return entries
    for (const entry of entries) this.#entries.push(entry)
    let known = 0
    let next = 0
    for (; next < this.#entries.length; next++) {
      const entry = this.#entries[next]!
      if (isWhole(entry)) continue
      const json = texts[known]
      if (json === undefined) break
      this.#entries[next] = { ...entry, json }
      known++
    }
    const whole = this.#entries.slice(0, next)
    this.#entries = this.#entries.slice(next)
    return whole
  }

  /** Those that have their data: that of the others does not come any more. */
  letGo(): readonly FeedEntry[] {
    const whole = this.#entries.filter(isWhole)
    this.#entries = []
    return whole
  }
}

function isWhole({ json }: FeedEntry): boolean {
  return json !== ''
}
