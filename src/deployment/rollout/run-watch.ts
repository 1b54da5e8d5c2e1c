/** Counts the results of a revision's runs on all members, and decides when they are too bad. */

import type { RevisionTally } from './member-port.ts'

/** Ended runs below which no verdict is made. */
const endedMin = 20
/** Share of failed runs above which a revision may be too bad … */
const failedShareMax = 0.5
/** … if it is also this many times the share of the revision before. */
const timesBefore = 5
/** Dead processes within `deathsMs` that are too many. */
const deathsMax = 3
const deathsMs = 60_000

/** The counts of one watch. Runs before a member's first tally here do not count. */
export class RunWatch {
  readonly #first = new Map<string, RevisionTally>()
  readonly #last = new Map<string, RevisionTally>()
  readonly #before = new Map<string, RevisionTally>()
  #deaths: { readonly atMs: number; readonly count: number }[] = []

  /** Takes a tally of the revision. A member counts since its start, so its numbers only grow. */
  add(member: string, tally: RevisionTally, nowMs: number): void {
    if (!this.#first.has(member)) this.#first.set(member, tally)
    const count = tally.deaths - (this.#last.get(member) ?? tally).deaths
    if (count > 0) this.#deaths.push({ atMs: nowMs, count })
    this.#last.set(member, tally)
  }

  /** Takes the tally of the revision that was active before. */
  addBefore(member: string, tally: RevisionTally): void {
    this.#before.set(member, tally)
  }

  /** True if the tally of the revision before is still to be taken from this member. */
  lacksBefore(member: string): boolean {
    return !this.#before.has(member)
  }

  /** Why the revision is too bad; undefined if it is not, or not yet. */
  verdict(nowMs: number): string | undefined {
    this.#deaths = this.#deaths.filter(({ atMs }) => atMs > nowMs - deathsMs)
    const deaths = sum(this.#deaths.map(({ count }) => count))
    if (deaths >= deathsMax) return `Its process died ${deaths} times within a minute.`
    const members = [...this.#last].map(([member, last]) => ({ last,
      first: this.#first.get(member)! })
    )
    const ended = sum(members.map(({ first, last }) => last.ended - first.ended))
    const failed = sum(members.map(({ first, last }) => last.failed - first.failed))
    if (ended < endedMin || failed < ended * failedShareMax) return undefined
    if (failed / ended < timesBefore * this.#shareBefore()) return undefined
    return `${failed} of ${ended} runs failed.`
  }

  /** Share of failed runs of the revision before; 0 if too few have ended. */
  #shareBefore(): number {
    const tallies = [...this.#before.values()]
    const ended = sum(tallies.map((tally) => tally.ended))
    return ended < endedMin ? 0 : sum(tallies.map((tally) => tally.failed)) / ended
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
