/** Pairs of operations that met on a thread or in a project, one after or during the other. */

import type { Call, Entry } from './history/history.ts'

/** Number of meetings by pair, such as `run.wait + thread.copy`. */
export function countPairs(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const calls = entries.filter((entry): entry is Call => entry.type === 'call')
    .filter((call) => placeOf(call) !== undefined)
    .toSorted((one, other) => one.startMs - other.startMs)
  const pairs = new Map<string, number>()
  for (const onThread of Map.groupBy(calls, placeOf).values()) {
    for (let index = 1; index < onThread.length; index++) {
      const pair = [onThread[index - 1]!.operation, onThread[index]!.operation].toSorted().join(
        ' + ',
      )
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
    }
  }
  return pairs
}

function placeOf({ threadId, projectId }: Call): string | undefined {
  return threadId ?? projectId
}
