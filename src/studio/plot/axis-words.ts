/** Words at the ticks of an axis: all in one unit, and none rounded to another value. Pure. */

import { count, duration } from '../parts/amounts.ts'
import { kindOf } from './chart-lines.ts'

const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 })

/** Words of round numbers of a metric, as `valueAxis` gives them. */
export function axisWords(ticks: readonly number[], metric: string | undefined): readonly string[] {
  const write = writerOf(metric, ticks.at(-1) ?? 0)
  return ticks.map((tick) => tick === 0 ? '0' : write(tick))
}

function writerOf(metric: string | undefined, most: number): (tick: number) => string {
  switch (kindOf(metric)) {
    case 'share':
      return (tick) => `${digits.format(tick * 100)} %`
    case 'latency':
      if (most > 60) return (tick) => duration(tick * 1_000)
      return most < 1
        ? (tick) => `${digits.format(tick * 1_000)} ms`
        : (tick) => `${digits.format(tick)} s`
    case 'cost':
      return (tick) => `$${digits.format(tick)}`
    case 'score':
      return digits.format
    case 'count':
      return count
  }
}
