/** The keys that go through the rows of a list, wherever the focus is. */

import type { RefObject } from 'react'

import { useKeys } from '../parts/keys.ts'
import type { KeyActs } from '../parts/keys.ts'

/** A list and its active row. */
export interface RowKeys {
  /** Heading of its keys in the help. */
  readonly title: string
  /** Noun for a row, such as `dataset`. */
  readonly noun: string
  readonly count: number
  readonly active: number
  readonly activate: (index: number) => void
  readonly box: RefObject<HTMLDivElement | null>
}

/** Binds `j` and `k`, and others that a list may have. */
export function useRowKeys({ title, noun, count, active, activate, box }: RowKeys,
  others: KeyActs = {}): void {
  const move = (step: number) => {
    activate(Math.max(0, Math.min(count - 1, active + step)))
    box.current?.focus({ preventScroll: true })
  }
  const named = noun[0]!.toUpperCase() + noun.slice(1)
  useKeys(title, {
    j: { words: `Next ${noun}`, act: () => move(1) },
    k: { words: `${named} before`, act: () => move(-1) },
    ...others,
  })
}
