/** Prints what the suite costs: the dearest cases and files, and all searches together. */

import { relative } from 'node:path'

import type { Reporter, TestCase, TestModule } from 'vitest/node'

import { isNight } from '../repeats.ts'
import { noise } from './case-budget.ts'
import { slownessNow } from './calibration.ts'
import { listedCases } from './listed-cases.ts'

/** How many cases and files are named. */
const named = 10

/** Seconds of processor for all searches of a day, beside the simulation. */
const searchesS = 5

const root = `${import.meta.dirname}/../../..`

/** A line of the summary. */
interface Cost {
  readonly name: string
  readonly ms: number
}

/** Reporter for vitest. The run fails if the searches together take longer than they may. */
export class CostReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = modules.flatMap((module) => [...module.children.allTests()])
    if (cases.length < named) return
    print('Dearest cases',
      cases.map((each) => ({ ms: each.diagnostic()?.duration ?? 0,
        name: `${placeOf(each.module)}: ${each.name}${reasonOf(each)}` })
      ))
    print('Dearest files', modules.map((each) => ({ ms: timeOf(each), name: placeOf(each) })))
    const searches = cases.reduce((sum, each) => sum + (each.meta().searchMs ?? 0), 0) / 1000
    const limit = isNight ? Infinity : searchesS * noise * slownessNow().cpu
    const words = isNight ? '.' : `, of ${searchesS} s.`
    console.log(`Searches: ${searches.toFixed(1)} s of processor${words}`)
    if (searches <= limit) return
    console.error('The searches take too long: give those that were added a smaller share.')
    process.exitCode = 1
  }
}

function print(title: string, costs: readonly Cost[]): void {
  const dearest = costs.toSorted((a, b) => b.ms - a.ms).slice(0, named)
  const lines = dearest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`)
  console.log([`\n${title}`, ...lines].join('\n'))
}

/** Everything that a file takes: to load it, to prepare it, and its cases. */
function timeOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return collectDuration + setupDuration + duration
}

function placeOf(module: TestModule): string {
  return relative(root, module.moduleId)
}

function reasonOf(each: TestCase): string {
  const reason = listedCases[placeOf(each.module)]?.[each.name]
  return reason === undefined ? '' : ` (listed: ${reason})`
}
