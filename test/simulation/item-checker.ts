/** Checks answers about one item against each other: it is a register whose values are all new. */

import type { Violation } from './checker.ts'
import type { Span } from './life-checker.ts'

/** A put, or a deletion with the value null. */
interface Write {
  readonly value: string | null
  readonly asked: number
  /** Infinity while it is not known whether it was done, or when. */
  acknowledged: number
  refused: boolean
  /** When some client had seen its value, and when one had seen another after that. */
  seen: number
  replaced: number
}

/**
 * Of each item:
 *   what is read was put, or is nothing because that is how it began or was deleted,
 *   what was acknowledged, or read, is read until another write may have come after it,
 *   a value that was replaced does not come back.
 */
export class ItemChecker {
  readonly #fail: (violation: Violation, what: string) => void
  readonly #writes: Write[] = [{ value: null, asked: -1, acknowledged: -1, refused: false,
    seen: Infinity, replaced: Infinity }]

  constructor(item: string, fail: (violation: Violation, what: string) => void) {
    this.#fail = (violation, what) => fail(violation, `${item}: ${what}`)
  }

  /** A client writes; the result takes the outcome. */
  write(value: string | null,
    asked: number): { acknowledged(received: number): void; refused(): void } {
    const write: Write = { value, asked, acknowledged: Infinity, refused: false, seen: Infinity,
      replaced: Infinity }
    this.#writes.push(write)
    return {
      acknowledged: (received) => {
        write.acknowledged = received
      },
      refused: () => {
        write.refused = true
      },
    }
  }

  /** A client read this value. */
  read(value: string | null, { asked, received }: Span): void {
    const sources = this.#writes.filter((write) => write.value === value && write.asked < received)
    const [source] = sources
    if (source === undefined) return this.#fail('contradicted', `${value} was never put`)
    if (value !== null && source.refused) this.#fail('not_refused', `${value} was refused`)
    if (value !== null && source.replaced < asked) {
      this.#fail('stale', `${value} is back, which was replaced`)
    }
    // A write that is known to have come after all that could have been read.
    const later = this.#writes.find((write) =>
      write.value !== value && write.acknowledged < asked
      && sources.every(({ acknowledged }) => acknowledged < write.asked)
    )
    if (later) {
      const violation = value === null ? 'lost' : 'stale'
      this.#fail(violation, `${value} is read after ${later.value} was acknowledged`)
    }
    for (const write of this.#writes) {
      if (write.value !== null && write.value !== value && write.seen < asked) {
        write.replaced = Math.min(write.replaced, received)
      }
    }
    if (value === null) return
    source.seen = Math.min(source.seen, received)
    // Who has read it knows of it, whatever its writer was answered.
    source.acknowledged = Math.min(source.acknowledged, received)
  }
}
