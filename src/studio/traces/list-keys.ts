/** Keys of a list whose focus stays on its container, as virtual lists need it. */

import type { KeyboardEvent, RefObject } from 'react'

import { useKeys } from '../parts/keys.ts'

/** A list, and what its keys do. */
export interface ListKeys {
  readonly title: string
  readonly count: number
  readonly active: number
  readonly box: RefObject<HTMLDivElement | null>
  readonly move: (index: number) => void
  readonly open: (index: number) => void
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12,
  PageUp: -12, Home: -Infinity, End: Infinity }

/** Moves by arrows, `j` and `k`, and opens by Enter. Returns what the container listens with. */
export function useListKeys({ title, count, active, box, move, open }: ListKeys) {
  const go = (step: number) => {
    if (count > 0) move(Math.max(0, Math.min(count - 1, active + step)))
  }
  const goFromAnywhere = (step: number) => {
    box.current?.focus({ preventScroll: true })
    go(step)
  }
  useKeys(title, {
    j: { words: 'Next', act: () => goFromAnywhere(1) },
    k: { words: 'Previous', act: () => goFromAnywhere(-1) },
  })
  return (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return
    const step = steps[event.key]
    if (step !== undefined) go(step)
    else if (event.key === 'Enter' && active < count) open(active)
    else return
    event.preventDefault()
  }
}
