/** What clients were told of a list with lives, held against itself and against what is stored. */

import { firstRun } from './life-actor.ts'
import type { Copied, Look, Place, Removal } from './life-actor.ts'
import type { Violation } from './checker.ts'
import type { Remains } from './remains.ts'

/** When somebody asked, and when he heard the answer. */
export interface Span {
  readonly asked: number
  readonly heard: number
}

interface Item {
  /** Until it is known where it stands: nobody was told of it. */
  place: Place | undefined
  readonly asked: number
  acknowledged: number | undefined
  refused: boolean
  /** It was put here, not copied: it has a run. */
  readonly isOwn: boolean
}

interface Removed {
  /** Undefined until that is known, and nothing is removed. */
  life: string | undefined
  readonly asked: number
  acknowledged: number | undefined
}

interface Life {
  /** The longest that somebody was told of. */
  longest: readonly string[]
  /** Somebody was told of it then. */
  readonly known: number
  /** Somebody knew then that it was over. */
  over: number
}

type Fail = (violation: Violation, what: string) => void

/**
 * Of each list:
 *   what was acknowledged is there until somebody asks to remove it,
 *   a life that was removed, or that another one followed, does not come back,
 *   no life ends but those that somebody asked to remove,
 *   items of a life stay in their order, and the rows of the log tell the same,
 *   a copy has what its source had, and keeps it when the source is removed.
 * In the end, when all is well:
 *   the row that searches find, and the runs that are listed, are those of the life that is,
 *   and of lives that clients knew nothing is stored but what copies need.
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

  /** An item that somebody puts; returns how to tell what became of that. */
  put(item: string, asked: number): {
    acknowledged(place: Place, heard: number): void
    /** Nothing of it was written. */
    refused(): void
  } {
    const put: Item = { place: undefined, asked, acknowledged: undefined, refused: false,
      isOwn: true }
    this.#items.set(item, put)
    return {
      acknowledged: (place, heard) => {
        put.acknowledged = heard
        // A try that came again after a removal: it was there before.
        if (place.life === '' || place.number === 0) return
        put.place = place
        this.#known(place.life, heard)
      },
      refused: () => { put.refused = true },
    }
  }

  /** Somebody removes it; returns how to tell what became of that. */
  remove(asked: number): {
    /** It is this life that he wants to be removed. */
    meant(life: string, heard: number): void
    acknowledged(removal: Removal, heard: number): void
    refused(): void
  } {
    const removed: Removed = { life: undefined, asked, acknowledged: undefined }
    this.#removed.add(removed)
    return {
      meant: (life, heard) => {
        removed.life = life
        this.#known(life, heard)
      },
      acknowledged: ({ life }, heard) => {
        removed.acknowledged = heard
        for (const name of [life, removed.life]) {
          if (name) this.#isOver(this.#known(name, heard), heard)
        }
      },
      refused: () => { this.#removed.delete(removed) },
    }
  }

  look({ life, items, rows }: Look, span: Span): void {
    if (new Set(items).size < items.length) this.#fail('twice', 'it has items twice')
    // What a later owner removes is missing also in an answer that is older than that.
    const isCut = rows !== undefined && this.#mayBeRemoved(span)
    if (rows && !isCut && rows.join() !== items.join()) {
      this.#fail('contradicted', `its rows have ${rows.join()}, it has ${items.join()}`)
    }
    this.#mustHave(items, life, span)
    for (const item of items) {
      if (this.#items.get(item)?.refused) this.#fail('not_refused', `${item} was refused`)
    }
    if (life !== '') this.#lived(life, items, span)
    for (const [name, other] of this.#lives) {
      if (name !== life && other.known < span.asked) this.#isOver(other, span.heard)
    }
  }

  /** It was copied, as it was then. */
  copied({ items, isNew }: NonNullable<Copied>, span: Span): void {
    if (isNew) this.#mustHave(items, undefined, span)
  }

  /** It is a copy. */
  adopted({ life, items }: NonNullable<Copied>, { asked, heard }: Span): void {
    this.#known(life, heard)
    for (const [at, item] of items.entries()) {
      if (this.#items.get(item)?.isOwn) continue
      this.#items.set(item, { place: { life, number: at + 1 }, asked, acknowledged: heard,
        refused: false, isOwn: false })
    }
  }

  /** Undefined where it is in the end as it should be; that may take a while. */
  end({ life, items, runs }: Look, remains: Remains): string | undefined {
    const wrong = life === '' ? this.#rowLeft(remains)
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

  /** What was never acknowledged may still come to life. */
  #rowLeft(remains: Remains): string | undefined {
    const life = remains.lifeOf(this.#list)
    return life !== undefined && this.#lives.has(life) ? `the row of its life ${life} is left`
      : undefined
  }

  #known(name: string, heard: number): Life {
    const life = this.#lives.get(name) ?? { longest: [], known: heard, over: Infinity }
    this.#lives.set(name, life)
    return life
  }

  #isOver(life: Life, heard: number): void {
    life.over = Math.min(life.over, heard)
  }

  #lived(life: string, items: readonly string[], { asked, heard }: Span): void {
    const known = this.#known(life, heard)
    if (known.over < asked) this.#fail('stale', `its life ${life} is back`)
    const shorter = Math.min(known.longest.length, items.length)
    for (let at = 0; at < shorter; at++) {
      if (known.longest[at] === items[at]) continue
      this.#fail('contradicted', `number ${at + 1} is ${known.longest[at]} and ${items[at]}`)
      return
    }
    if (items.length > known.longest.length) known.longest = items
  }

  /** `life` is undefined where it is not known which one had these items. */
  #mustHave(items: readonly string[], life: string | undefined, { asked, heard }: Span): void {
    for (const [name, item] of this.#items) {
      const { acknowledged, place } = item
      if (acknowledged === undefined || acknowledged >= asked) continue
      if (!items.includes(name)) {
        const mayBeRemoved = this.#mayBeRemoved({ asked: item.asked, heard }, place?.life)
        if (!mayBeRemoved || (life !== undefined && place?.life === life)) {
          this.#fail('lost', `${name} was acknowledged and is not among ${items.join()}`)
        }
      } else if (place !== undefined && place.life === life && items[place.number - 1] !== name) {
        this.#fail('contradicted', `${name} was number ${place.number}`)
      }
    }
  }

  /** Some life, unless it is told which one. */
  #mayBeRemoved({ asked, heard }: Span, life?: string): boolean {
    return [...this.#removed].some((removed) => removed.asked < heard
      && (life === undefined || removed.life === life)
      && (removed.acknowledged === undefined || removed.acknowledged > asked))
  }
}
