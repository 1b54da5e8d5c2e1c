/** Holds back events behind one whose data has not arrived yet, so that all are sent in order. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { FeedEntry } from '../model/feed-entry.ts'

/** Withholds events of one execution until their data are there. */
export class ReorderBuffer {
  #entries: FeedEntry[] = []

  /** Adds `entries`; `texts` is data for those that lack it, in order. Returns what may be sent. */
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

  /** Returns those that have their data: that of the others will not come any more. */
  release(): readonly FeedEntry[] {
    const whole = this.#entries.filter(isWhole)
    this.#entries = []
    return whole
  }
}

function isWhole({ json }: FeedEntry): boolean {
  return json !== ''
}
