/** The figures as a table: median and range, aim and floor, and whether those are met. */

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { median } from './statistics.ts'
import type { Spread } from './statistics.ts'
import type { Rounds } from './throughput.ts'

export interface Bench {
  readonly title: string
  readonly lines: readonly Line[]
  /** What readers of the table must know. */
  readonly notes: string
  /** The file for the results, in this folder. */
  readonly file: string
}

export interface Line {
  readonly measure: string
  /** The measured value of each side, with its unit. */
  readonly figures: readonly string[]
  readonly ratio: Spread
  readonly unit: keyof typeof units
  /** The required bound; the sign says whether at most or at least. */
  readonly aim?: Bound
  readonly floor?: Bound
}

const units = { times: '×', ms: ' ms', s: ' s', rows: '', requests: '', bytes: ' bytes' }

export interface Bound {
  readonly sign: '≤' | '≥'
  readonly value: number
}

export function verdictOf({ ratio, aim, floor }: Line): string {
  if (aim === undefined) return ''
  if (holds(ratio.median, aim)) return 'aim met'
  if (floor === undefined) return 'aim missed'
  return holds(ratio.median, floor) ? 'floor met, aim missed' : 'floor missed'
}

function holds(value: number, { sign, value: bound }: Bound): boolean {
  return sign === '≤' ? value <= bound : value >= bound
}

/** A Markdown table that reads well in a terminal too. */
export function tableOf(lines: readonly Line[]): string {
  const header = ['measure', 'figures', 'median (range)', 'aim', 'floor', 'verdict']
  const rows = lines.map((line) => [
    line.measure,
    line.figures.join(', '),
    spreadText(line),
    boundText(line, line.aim),
    boundText(line, line.floor),
    verdictOf(line),
  ])
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]!.length))
  )
  const text = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [text(header), rule, ...rows.map(text)].join('\n')
}

function spreadText({ ratio, unit }: Line): string {
  const figure = (value: number) => `${value.toFixed(2)}${units[unit]}`
  return `${figure(ratio.median)} (${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)})`
}

function boundText({ unit }: Line, bound: Bound | undefined): string {
  if (bound === undefined) return ''
  return `${bound.sign} ${bound.value}${units[unit]}`
}

/** The median of a side's rounds, with its name and unit. */
export function figure(rounds: Rounds, name: string, unit: 'ms' | '/s' | 's'): string {
  const value = median(rounds.get(name)!)
  return `${name} ${unit === '/s' ? Math.round(value) : value.toFixed(2)} ${unit}`
}

/** What the figures were measured on, in one paragraph. */
export function machineText(began: Date, loadAtStart: number): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  return [
    `${began.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${cpus()[0]?.model ?? 'unknown'},`,
    `${availableParallelism()} cores, ${memory}, Node ${process.version}, ${process.platform}.`,
    `Load average ${loadAtStart.toFixed(2)} before, ${loadavg()[0]!.toFixed(2)} at the end.`,
  ].join(' ')
}
