/** Pairs of operations that met on a thread or in a project, one after or during the other. */

import type { Call, Entry } from './history/history.ts'

/** Number of meetings by pair, such as `run.wait + thread.copy`. */
export type PairCounts = ReadonlyMap<string, number>

/** Number of meetings up to which a pair is rare, and how much more often rare pairs are drawn. */
const [rareCount, rareWeight] = [2, 4]

/** Number of meetings by pair. */
export function countPairs(entries: readonly Entry[]): PairCounts {
  const calls = entries.filter((entry): entry is Call => entry.type === 'call')
    .filter((call) => placeOf(call) !== undefined)
    .toSorted((one, other) => one.startMs - other.startMs)
  const pairs = new Map<string, number>()
  for (const onThread of Map.groupBy(calls, placeOf).values()) {
    for (let index = 1; index < onThread.length; index++) {
      const pair = toPair(onThread[index - 1]!.operation, onThread[index]!.operation)
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
    }
  }
  return pairs
}

function placeOf({ threadId, projectId }: Partial<Call>): string | undefined {
  return threadId ?? projectId
}

function toPair(one: string, other: string): string {
  return [groupOf(one), groupOf(other)].toSorted().join(' + ')
}

/** All wrong requests count as one operation, and so do those of another tenant. */
function groupOf(operation: string): string {
  return operation.replace(/^(wrong|foreign)\..*/, '$1')
}

/** Counts pairs while clients draw, over all rounds, so that rare pairs are drawn more often. */
export class PairTable {
  readonly #counts = new Map<string, number>()
  readonly #lastOn = new Map<string, string>()

  /** Notes a request about a thread or a project. */
  note(request: Partial<Call> & Pick<Call, 'operation'>): void {
    const place = placeOf(request)
    if (place === undefined) return
    const last = this.#lastOn.get(place)
    this.#lastOn.set(place, request.operation)
    if (last === undefined) return
    const pair = toPair(last, request.operation)
    this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + 1)
  }

  /** How much more often an operation is drawn for a thread because of the operation before it. */
  weigh(threadId: string, operation: string): number {
    const last = this.#lastOn.get(threadId)
    if (last === undefined) return 1
    return (this.#counts.get(toPair(last, operation)) ?? 0) <= rareCount ? rareWeight : 1
  }
}

/** Pairs of operations on threads: those that were seen, and those that were not. */
export interface PairReport {
  readonly seen: number
  /** Pairs of operations on threads that did not meet. */
  readonly unseen: readonly string[]
}

/** Compares counts with all pairs of the operations that were seen on threads. */
export function reportPairs(counts: PairCounts): PairReport {
  const names = [...new Set([...counts.keys()].flatMap((pair) => pair.split(' + ')))]
    .filter(isOnThreads).toSorted()
  const all = names.flatMap((one, index) => names.slice(index).map((other) => toPair(one, other)))
  const unseen = all.filter((pair) => !counts.has(pair))
  return { seen: all.length - unseen.length, unseen }
}

/** True for operations on threads, false for those in projects. */
function isOnThreads(name: string): boolean {
  return !/^(project|span|feedback|purge)\./.test(name)
}
