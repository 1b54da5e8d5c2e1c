/**
 * Simulates clusters: `npm run simulate -- --seeds 500 --from 1`, or one of them with its story,
 * `npm run simulate -- --seed 17 --trace`; `--without chain` takes a rule away.
 */

import { parseArgs } from 'node:util'

import { report, replay } from './report.ts'
import { rules } from './rule.ts'
import type { Rule } from './rule.ts'
import { simulate } from './simulation.ts'

const { values } = parseArgs({ options: {
  seeds: { type: 'string', default: '100' },
  from: { type: 'string', default: '1' },
  seed: { type: 'string' },
  without: { type: 'string' },
  trace: { type: 'boolean', default: false },
} })

const without = values.without as Rule | undefined
if (without !== undefined && !rules.includes(without)) {
  console.error(`There is no rule ${without}. There are: ${rules.join(', ')}.`)
  process.exit(2)
}
const first = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
const began = performance.now()
let [acknowledged, reads, owners, bad] = [0, 0, 0, 0]
for (let seed = first; seed < first + count; seed++) {
  const outcome = await simulate({ seed, without, tracing: values.trace })
  acknowledged += outcome.acknowledged
  reads += outcome.reads
  owners += outcome.owners
  if (values.trace) console.log(outcome.trace.join('\n'))
  if (outcome.findings.length === 0) continue
  bad++
  console.log(report(outcome, without))
  // The world of a seed is always the same: its story is told by living it again.
  if (!values.trace && bad === 1) console.log(await replay(seed, without))
}
const seconds = (performance.now() - began) / 1_000
console.log(`${count} seeds, ${bad} bad; ${acknowledged} appends acknowledged, ${reads} reads, ` +
  `${owners} owners; ${(count / seconds).toFixed(1)} seeds a second`)
process.exitCode = bad > 0 ? 1 : 0
