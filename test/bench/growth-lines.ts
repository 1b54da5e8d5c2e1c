/** The report's lines about long threads: what grows with them, and what must not. */

import { measureGrowth } from './growth.ts'
import type { GrowthFigures, GrowthPlan, Pair } from './growth.ts'
import type { LogWeight } from './log-weight.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import type { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'

export async function growthLines(heddle: Served, weight: LogWeight,
  growth: GrowthPlan): Promise<Line[]> {
  progress(`threads of ${growth.old} turns`)
  const figures = await measureGrowth(heddle, weight, growth)
  const { young, old } = growth
  const grown = (measure: string, pair: Pair, shown: Pair = pair): Line => ({
    measure: `${heddle.name}: ${measure} at turn ${old} over turn ${young}`,
    unit: 'times',
    figures: [`${median(shown.young).toFixed(2)} ms`, `${median(shown.old).toFixed(2)} ms`],
    ratio: spreadOf(ratios(pair.old, pair.young)),
    aim: { sign: '≤', value: 1.3 },
  })
  return [
    grown('updates stream', figures.turn),
    grown('history of 10, per byte,', figures.history.perByte, figures.history),
    grown('state, per byte,', figures.state.perByte, figures.state),
    grown('copy, per byte,', figures.copy.perByte, figures.copy),
    bytesLine(heddle.name, figures),
  ]
}

/** The ratio of the heaviest window to the lightest. */
function bytesLine(name: string, { bytesPerTurn }: GrowthFigures): Line {
  const bytes = bytesPerTurn.map((window) => window.bytes)
  const ratio = Math.max(...bytes) / Math.min(...bytes)
  return {
    measure: `${name}: bytes of the log per turn, largest window over smallest`,
    unit: 'times',
    figures: bytesPerTurn.map((window) =>
      `${Math.round(window.bytes)} (turns ${window.from}–${window.to})`
    ),
    ratio: { median: ratio, low: ratio, high: ratio },
    aim: { sign: '≤', value: 1.2 },
  }
}
