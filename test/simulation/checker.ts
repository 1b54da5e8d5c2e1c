/** Checks the answers to clients against each other and against what is there at the end. */

/**
 * lost          acknowledged, and not there
 * contradicted  two answers, or an answer and the end, show different histories
 * stale         an answer misses what was known before the question
 * twice         there more often than it was asked for
 * not_refused   refused, which says that nothing was written, and yet there
 * place         what was acknowledged is not found where the log says it is
 * remains       stored rows differ from what is there at the end, or cannot be reached
 * stuck         nobody serves although nothing is wrong
 * failed        an error that may never happen
 */
export type Violation = 'lost' | 'contradicted' | 'stale' | 'twice' | 'not_refused' | 'place'
  | 'remains' | 'stuck' | 'failed'

export interface Finding {
  readonly violation: Violation
  readonly what: string
}

/** A list at the time of a question. */
export interface Asked {
  readonly list: string
  /** How many items some client knew of. */
  readonly known: number
}

interface Seen {
  known: number
  /** The longest list that was read. */
  longest: readonly string[]
  readonly acknowledged: Map<string, number>
  readonly refused: Set<string>
}

export class Checker {
  readonly findings: Finding[] = []
  acknowledged = 0
  reads = 0
  readonly #lists = new Map<string, Seen>()

  ask(list: string): Asked {
    return { list, known: this.#seen(list).known }
  }

  /** The append of an item was acknowledged, as the `number`th. */
  appended({ list, known }: Asked, item: string, number: number): void {
    const seen = this.#seen(list)
    this.acknowledged++
    if (number <= known) this.#find('stale', `${list}: ${item} is ${number} after ${known}`)
    seen.acknowledged.set(item, number)
    seen.known = Math.max(seen.known, number)
    const read = seen.longest[number - 1]
    if (read !== undefined && read !== item) {
      this.#find('contradicted', `${list}: ${item} is number ${number}, and so was ${read}`)
    }
  }

  /** The append was refused: nothing was written. */
  refused({ list }: Asked, item: string): void {
    this.#seen(list).refused.add(item)
  }

  read({ list, known }: Asked, items: readonly string[]): void {
    const seen = this.#seen(list)
    this.reads++
    if (items.length < known) {
      this.#find('stale', `${list}: ${items.length} items were read after ${known} were known`)
    }
    this.#agree(list, seen.longest, items)
    seen.known = Math.max(seen.known, items.length)
    if (items.length > seen.longest.length) seen.longest = items
    this.#requireNotThere(list, seen, items)
  }

  /** A search finds what was acknowledged. */
  searched({ list, known }: Asked, items: readonly string[]): void {
    this.reads++
    if (items.length >= known) return
    this.#find('stale', `${list}: a search found ${items.length} items after ${known} were known`)
  }

  /** Every known item has a place. */
  found({ list }: Asked, item: string, number: number): void {
    this.reads++
    const { acknowledged, longest } = this.#seen(list)
    const expected = acknowledged.get(item) ?? longest.indexOf(item) + 1
    if (expected === number) return
    this.#find('place', `${list}: ${item} is number ${expected}, its place says ${number}`)
  }

  /** Items that some client knows of. */
  knownIn(list: string): readonly string[] {
    const { longest, acknowledged } = this.#seen(list)
    return [...new Set([...longest, ...acknowledged.keys()])]
  }

  /** The final check: the items that are read, and the items in the rows of the log. */
  end(list: string, items: readonly string[], rows: readonly string[]): void {
    const seen = this.#seen(list)
    this.#agree(list, rows, items)
    if (rows.length !== items.length) {
      this.#find('contradicted', `${list}: ${items.length} items in ${rows.length} rows`)
    }
    this.#agree(list, seen.longest, items)
    if (items.length < seen.longest.length) {
      this.#find('contradicted', `${list} had ${seen.longest.length} items and has ${items.length}`)
    }
    for (const [item, number] of seen.acknowledged) {
      if (rows[number - 1] === item) continue
      const at = rows.indexOf(item) + 1
      this.#find(at === 0 ? 'lost' : 'contradicted',
        `${list}: ${item} was number ${number} and is ${at === 0 ? 'nowhere' : at}`)
    }
    const once = new Set(rows)
    if (once.size < rows.length) this.#find('twice', `${list} has items twice`)
    this.#requireNotThere(list, seen, rows)
  }

  fail(violation: Violation, what: string): void {
    this.#find(violation, what)
  }

  #agree(list: string, a: readonly string[], b: readonly string[]): void {
    const length = Math.min(a.length, b.length)
    for (let i = 0; i < length; i++) {
      if (a[i] === b[i]) continue
      return this.#find('contradicted', `${list}: number ${i + 1} is ${a[i]} and ${b[i]}`)
    }
  }

  #requireNotThere(list: string, { refused }: Seen, items: readonly string[]): void {
    if (refused.size === 0) return
    const there = items.find((item) => refused.has(item))
    if (there !== undefined) this.#find('not_refused', `${list}: ${there} was refused`)
  }

  #find(violation: Violation, what: string): void {
    this.findings.push({ violation, what })
  }

  #seen(list: string): Seen {
    const seen = this.#lists.get(list) ??
      { known: 0, longest: [], acknowledged: new Map<string, number>(), refused: new Set<string>() }
    this.#lists.set(list, seen)
    return seen
  }
}
