/** Pairs of operations that met on one thread, one directly after or during the other. */

import type { Call, Entry } from './history/history.ts'

/** Number of meetings by pair, such as `run.wait + thread.copy`. */
export function countPairs(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const calls = entries.filter((entry): entry is Call => entry.type === 'call')
    .filter(({ threadId }) => threadId !== undefined)
    .toSorted((one, other) => one.startMs - other.startMs)
  const pairs = new Map<string, number>()
  for (const onThread of Map.groupBy(calls, ({ threadId }) => threadId).values()) {
    for (let index = 1; index < onThread.length; index++) {
      const pair = [onThread[index - 1]!.operation, onThread[index]!.operation].toSorted().join(
        ' + ',
      )
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
    }
  }
  return pairs
}
