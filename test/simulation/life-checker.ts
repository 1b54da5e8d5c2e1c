/** Checks answers about a list with lives against each other and against what is stored. */

import type { Violation } from './checker.ts'
import { firstRun } from './life-actor.ts'
import type { Copied, Look, Place, Removal, RunStatuses } from './life-actor.ts'
import type { Remains } from './remains.ts'

/** When a client asked, and when it got the answer. */
export interface Span {
  readonly asked: number
  readonly received: number
}

interface Item {
  /** Undefined until some client knows its position. */
  place: Place | undefined
  readonly asked: number
  acknowledged: number | undefined
  refused: boolean
  /** Whether it was put here and not copied: then it has a run. */
  readonly isOwn: boolean
  /** When some client first knew that its run has ended. */
  ended: number
}

interface Removed {
  /** Undefined until it is known; as long nothing counts as removed. */
  life: string | undefined
  readonly asked: number
  acknowledged: number | undefined
}

interface Life {
  /** The longest list of items that some client saw. */
  longest: readonly string[]
  /** When some client first knew of it. */
  readonly known: number
  /** When some client first knew that it had ended. */
  ended: number
}

type Fail = (violation: Violation, what: string) => void

/**
 * Of each list:
 *   what was acknowledged is there until a client asks to remove it,
 *   a life that was removed, or that another one followed, does not come back,
 *   only lives that a client asked to remove end,
 *   items of a life keep their order, and the rows of the log have the same,
 *   a copy has what its source had, and keeps it when the source is removed,
 *   a run is listed and read as long as its item is there, and none that nobody began.
 * At the end, when nothing is wrong any more:
 *   the row that searches find, and the listed runs, are those of the current life,
 *   and of earlier lives that clients knew only what copies need is stored.
 */
export class LifeChecker {
  readonly #list: string
  readonly #fail: Fail
  readonly #items = new Map<string, Item>()
  readonly #removed = new Set<Removed>()
  readonly #lives = new Map<string, Life>()

  constructor(list: string, fail: Fail) {
    this.#list = list
    this.#fail = (violation, what) => fail(violation, `${list}: ${what}`)
  }

  /** A client puts an item; the result takes the outcome. */
  put(item: string, asked: number): {
    acknowledged(place: Place, received: number): void
    /** Nothing was written. */
    refused(): void
  } {
    const put: Item = { place: undefined, asked, acknowledged: undefined, refused: false,
      isOwn: true, ended: Infinity }
    this.#items.set(item, put)
    return {
      acknowledged: (place, received) => {
        put.acknowledged = received
        // A retry after a removal: the item had been there before.
        if (place.life === '' || place.number === 0) return
        put.place = place
        this.#known(place.life, received)
      },
      refused: () => {
        put.refused = true
      },
    }
  }

  /** A client removes the list; the result takes the outcome. */
  remove(asked: number): {
    /** The client means this life. */
    meant(life: string, received: number): void
    acknowledged(removal: Removal, received: number): void
    refused(): void
  } {
    const removed: Removed = { life: undefined, asked, acknowledged: undefined }
    this.#removed.add(removed)
    return {
      meant: (life, received) => {
        removed.life = life
        this.#known(life, received)
      },
      acknowledged: ({ life }, received) => {
        removed.acknowledged = received
        for (const name of [life, removed.life]) {
          if (name) this.#hasEnded(this.#known(name, received), received)
        }
      },
      refused: () => {
        this.#removed.delete(removed)
      },
    }
  }

  look({ life, items, rows, runs, newest }: Look, span: Span): void {
    if (new Set(items).size < items.length) this.#fail('twice', 'it has items twice')
    // What a later owner removes is missing even in an earlier answer.
    const isCut = rows !== undefined && this.#mayBeRemoved(span)
    if (rows && !isCut && rows.join() !== items.join()) {
      this.#fail('contradicted', `its rows have ${rows.join()}, it has ${items.join()}`)
    }
    this.#requireHave(items, life, span)
    for (const item of items) {
      if (this.#items.get(item)?.refused) this.#fail('not_refused', `${item} was refused`)
    }
    if (life !== '') this.#lived(life, items, span)
    if (life !== '') this.#requireRun(items, newest, span)
    this.runsFound(runs, span)
    for (const [name, other] of this.#lives) {
      if (name !== life && other.known < span.asked) this.#hasEnded(other, span.received)
    }
  }

  /** Runs as a list or a search finds them: none is missed, invented, or as it was before. */
  runsFound(runs: RunStatuses, span: Span): void {
    for (const [name, item] of this.#items) {
      const { acknowledged = Infinity, asked, place, isOwn } = item
      if (!isOwn || place === undefined || acknowledged >= span.asked) continue
      const { received } = span
      if (this.#mayBeRemoved({ asked, received }, place.life)) continue
      const status = runs[place.number === 1 ? firstRun : name]
      if (status === undefined) this.#fail('lost', `the run of ${name} is not found`)
      if (status === 'success') item.ended = Math.min(item.ended, received)
      else if (item.ended < span.asked) this.#fail('stale', `the run of ${name} is ${status} again`)
    }
    for (const run of Object.keys(runs)) {
      const item = this.#items.get(run)
      if (item?.refused) this.#fail('not_refused', `${run} was refused and has a run`)
      if (!item && run !== firstRun) this.#fail('contradicted', `nobody began the run ${run}`)
    }
  }

  #requireRun(items: readonly string[], status: string | undefined, span: Span): void {
    const newest = items.at(-1)
    const { isOwn = false, asked = 0 } = this.#items.get(newest ?? '') ?? {}
    if (status !== 'missing' || !isOwn) return
    if (this.#mayBeRemoved({ asked, received: span.received })) return
    this.#fail('lost', `the run of ${newest} is not there by its id`)
  }

  /** A copy was made of it with these items. */
  copied({ items, isNew }: NonNullable<Copied>, span: Span): void {
    if (isNew) this.#requireHave(items, undefined, span)
  }

  /** It is a copy. */
  adopted({ life, items }: NonNullable<Copied>, { asked, received }: Span): void {
    this.#known(life, received)
    for (const [at, item] of items.entries()) {
      if (this.#items.get(item)?.isOwn) continue
      this.#items.set(item, { place: { life, number: at + 1 }, asked, acknowledged: received,
        refused: false, isOwn: false, ended: Infinity })
    }
  }

  /** What is wrong at the end; undefined if nothing is, which may take a while. */
  end({ life, items, runs }: Look, remains: Remains): string | undefined {
    const wrong = life === ''
      ? this.#rowLeft(remains)
      : remains.wrongRow(this.#list, life, items)
    if (wrong !== undefined) return wrong
    for (const [item, { isOwn, acknowledged }] of this.#items) {
      if (!isOwn || acknowledged === undefined) continue
      const isThere = items.includes(item)
      const run = items[0] === item ? firstRun : item
      const status = isThere ? 'success' : undefined
      if (runs[run] !== status) return `run ${run} is ${runs[run]} and should be ${status}`
      if (!isThere && remains.hasRun(this.#list, run)) return `run ${run} is stored`
    }
    for (const each of this.#lives.keys()) {
      const needless = each === life ? undefined : remains.ofDead(each)
      if (needless !== undefined) return needless
    }
    return undefined
  }

  /** A life that was never acknowledged may still appear. */
  #rowLeft(remains: Remains): string | undefined {
    const life = remains.lifeOf(this.#list)
    return life !== undefined && this.#lives.has(life)
      ? `the row of its life ${life} is left`
      : undefined
  }

  #known(name: string, received: number): Life {
    const life = this.#lives.get(name) ?? { longest: [], known: received, ended: Infinity }
    this.#lives.set(name, life)
    return life
  }

  #hasEnded(life: Life, received: number): void {
    life.ended = Math.min(life.ended, received)
  }

  #lived(life: string, items: readonly string[], { asked, received }: Span): void {
    const known = this.#known(life, received)
    if (known.ended < asked) this.#fail('stale', `its life ${life} is back`)
    const shorter = Math.min(known.longest.length, items.length)
    for (let at = 0; at < shorter; at++) {
      if (known.longest[at] === items[at]) continue
      this.#fail('contradicted', `number ${at + 1} is ${known.longest[at]} and ${items[at]}`)
      return
    }
    if (items.length > known.longest.length) known.longest = items
  }

  /** `life` is undefined if it is unknown which life had these items. */
  #requireHave(items: readonly string[], life: string | undefined,
    { asked, received }: Span): void {
    for (const [name, item] of this.#items) {
      const { acknowledged, place } = item
      if (acknowledged === undefined || acknowledged >= asked) continue
      if (!items.includes(name)) {
        const mayBeRemoved = this.#mayBeRemoved({ asked: item.asked, received }, place?.life)
        if (!mayBeRemoved || (life !== undefined && place?.life === life)) {
          this.#fail('lost', `${name} was acknowledged and is not among ${items.join()}`)
        }
      } else if (place !== undefined && place.life === life && items[place.number - 1] !== name) {
        this.#fail('contradicted', `${name} was number ${place.number}`)
      }
    }
  }

  /** Whether this life, by default any, may have been removed by then. */
  #mayBeRemoved({ asked, received }: Span, life?: string): boolean {
    return [...this.#removed].some((removed) =>
      removed.asked < received
      && (life === undefined || removed.life === life)
      && (removed.acknowledged === undefined || removed.acknowledged > asked)
    )
  }
}
