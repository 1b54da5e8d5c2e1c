/** Sums of a replay: how often each verdict was given, and groups of equal differences. Pure. */

import { maskedText } from './call-identity.ts'
import { verdicts } from './replay-verdict.ts'
import type { Judgement, Verdict } from './replay-verdict.ts'

/** Runs that differ in the same way. */
export interface DifferenceGroup {
  /** Text that the runs of the group have in common. */
  readonly key: string
  readonly verdict: Verdict
  readonly step: number | null
  readonly node: string | null
  readonly reason: string
  readonly runs: number
}

/** Groups that are listed. */
const groupsMax = 50

/** The number of runs of each verdict. */
export function verdictCounts(all: readonly Pick<Judgement, 'verdict'>[]): Record<Verdict, number> {
  const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0]))
  for (const { verdict } of all) counts[verdict]! += 1
  return counts as Record<Verdict, number>
}

/** Key of the group that a run belongs to; null if it does not differ. */
export function differenceKey(
  { verdict, step, node, reason }: Pick<Judgement, 'verdict' | 'step' | 'node' | 'reason'>,
): string | null {
  // Values in a reason differ from run to run.
  return reason === null
    ? null
    : JSON.stringify([verdict, step, node, maskedText(reason.split(': ')[0]!)])
}

/** Groups of equal differences, the largest first. */
export function differenceGroups(all: readonly Judgement[]): readonly DifferenceGroup[] {
  const groups = new Map<string, DifferenceGroup>()
  for (const judgement of all) {
    const { verdict, step, node, reason } = judgement
    const key = differenceKey(judgement)
    if (reason === null || key === null) continue
    const known = groups.get(key)
    groups.set(key, known
      ? { ...known, runs: known.runs + 1 }
      : { key, verdict, step, node, reason, runs: 1 })
  }
  return [...groups.values()].toSorted((a, b) => b.runs - a.runs).slice(0, groupsMax)
}

/**
 * The share of runs that differ among those that could be compared, in per cent: `diverged` and
 * `failed`. 100 if none could be.
 */
export function divergedPercent(counts: Readonly<Record<Verdict, number>>): number {
  const compared = counts.same + counts.same_result + counts.diverged + counts.fixed + counts.failed
  return compared === 0 ? 100 : 100 * (counts.diverged + counts.failed) / compared
}
