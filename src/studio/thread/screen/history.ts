/** The steps of a thread that were read so far, newest first. */

import type { ThreadState } from '../../api/states.ts'

/** Steps, and whether there are older ones. */
export interface History {
  readonly steps: readonly ThreadState[]
  readonly hasMore: boolean
}

/**
 * Steps after the newest were read again: older ones stay. If there are so many new ones that
 * nothing overlaps, older ones are read again as well.
 */
export function withNewest(known: History | undefined, newest: readonly ThreadState[],
  asked: number): History {
  const last = newest.at(-1)?.checkpoint_id
  const at = known?.steps.findIndex(({ checkpoint_id: id }) => id === last) ?? -1
  if (newest.length < asked || known === undefined || at < 0) {
    return { steps: newest, hasMore: newest.length === asked }
  }
  return { steps: [...newest, ...known.steps.slice(at + 1)], hasMore: known.hasMore }
}

/** Steps with one more page of older ones. */
export function withOlder(known: History, older: readonly ThreadState[], asked: number): History {
  const ids = new Set(known.steps.map(({ checkpoint_id: id }) => id))
  const more = older.filter(({ checkpoint_id: id }) => !ids.has(id))
  return { steps: [...known.steps, ...more], hasMore: older.length === asked }
}
