/** Tokens and cost of a replay: those that were recorded, and those of the calls it made. Pure. */

import type { ModelTokens, ReplayedRun, Verdict } from '../../graph/index.ts'
import { modelUsage } from '../../platform/index.ts'
import type { PriceModel } from '../../platform/index.ts'

/** Tokens, and their cost in US dollars. Null where that is not known. */
export interface UsageOfCalls {
  readonly tokens: number | null
  readonly cost: number | null
}

/** Tokens and cost before and after. */
export interface ReplayUsage {
  readonly recorded: UsageOfCalls
  readonly replayed: UsageOfCalls
  /** True if the replay was stopped: what would have come is not known. */
  readonly isAtLeast: boolean
}

/** Usage of which nothing is known. */
export const unknownUsage: ReplayUsage = { recorded: { tokens: null, cost: null },
  replayed: { tokens: null, cost: null }, isAtLeast: false }

/**
 * The usage of a run. The replay on its own revision knows that of the recording as well, if the
 * other one has no report.
 */
export function usageOfReplay(next: ReplayedRun | undefined, control: ReplayedRun | undefined,
  price: PriceModel, atMs: number): ReplayUsage {
  const reports = [next, control].flatMap((run) => run?.end === 'ended' ? [run.report] : [])
  const before = reports[0]?.recordedTokens ?? []
  if (before.length === 0) return unknownUsage
  const recorded = usageOfCalls(before, price, atMs)
  if (next?.end !== 'ended') return { ...unknownUsage, recorded }
  const { tokens, stop } = next.report
  const replayed = usageOfCalls(tokens, price, atMs)
  return { recorded, isAtLeast: stop !== null,
    replayed: recorded.cost === null ? { ...replayed, cost: null } : replayed }
}

function usageOfCalls(all: readonly ModelTokens[], price: PriceModel, atMs: number): UsageOfCalls {
  const costs = all.map(({ model, input, output, cacheRead, cacheCreation }) =>
    price({ ...model !== '' && { model } },
      modelUsage({ input_tokens: input, output_tokens: output, total_tokens: input + output,
        input_token_details: { cache_read: cacheRead, cache_creation: cacheCreation } }),
      atMs * 1_000).totalCost
  )
  return { tokens: sumOf(all.map(({ input, output }) => input + output)), cost: sumOf(costs) }
}

/** The sums over runs that were compared, and of which both are known. */
export function summedUsage(
  all: readonly { readonly verdict: Verdict; readonly usage?: ReplayUsage }[],
): ReplayUsage {
  const known = all.flatMap(({ verdict, usage }) => {
    const isCompared = verdict !== 'unstable' && verdict !== 'not_replayable'
    return isCompared && usage && usage.replayed.tokens !== null ? [usage] : []
  })
  if (known.length === 0) return unknownUsage
  const sum = (of: 'recorded' | 'replayed'): UsageOfCalls => ({
    tokens: sumOf(known.map((usage) => usage[of].tokens)),
    cost: sumOf(known.map((usage) => usage[of].cost)),
  })
  return { recorded: sum('recorded'), replayed: sum('replayed'),
    isAtLeast: known.some(({ isAtLeast }) => isAtLeast) }
}

/** Null if one of them is not known. */
function sumOf(all: readonly (number | null)[]): number | null {
  const sum = all.reduce((added, each) => added === null || each === null ? null : added + each, 0)
  // Without the digits that only binary arithmetic adds.
  return sum === null ? null : Number(sum.toPrecision(12))
}
