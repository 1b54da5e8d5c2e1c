/** The command of the simulation: many worlds by their seeds, or one with its trace. */

import { orExit, typedOptions, wholeNumber } from '../../scripts/typed-options.ts'
import { faultNames } from './faults.ts'
import { replay, report } from './report.ts'
import { rules } from './rule.ts'
import { simulate } from './simulation.ts'
import type { SimulationOptions } from './simulation.ts'

const usage = `Simulates clusters that anything happens to, and checks what they promised.

  npm run simulate -- --seeds 500 --from 1      many of them
  npm run simulate -- --seed 17 --trace         one, with its story
  --within <seconds>     begins no world later than that
  --without <rule>       takes a rule away: ${rules.join(', ')}
  --favourite <fault>    makes one fault frequent: ${faultNames.join(', ')}
  --items                clients use items of the store instead of lists
  --records              clients use records of a catalog instead of lists
  --held                 clients use values that are kept back instead of lists
  --crons                members have crons
  --searches             clients search for lists and runs as well`

const { values } = orExit(() =>
  typedOptions({ options: {
    help: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    within: { type: 'string' },
    without: { type: 'string' },
    favourite: { type: 'string' },
    items: { type: 'boolean', default: false },
    records: { type: 'boolean', default: false },
    held: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    crons: { type: 'boolean', default: false },
    searches: { type: 'boolean', default: false },
  } })
)

if (values.help) {
  console.log(usage)
  process.exit(0)
}

/** One of `names`, or none. */
function oneOf<Name extends string>(names: readonly Name[], given: string | undefined):
  | Name
  | undefined {
  const name = names.find((each) => each === given)
  if (name !== undefined || given === undefined) return name
  console.error(`There is no ${given}. There are: ${names.join(', ')}.`)
  process.exit(2)
}

const without = oneOf(rules, values.without)
const favourite = oneOf(faultNames, values.favourite)
const numbered = (name: string, text: string) =>
  orExit(() => wholeNumber(name, text, 0, Number.MAX_SAFE_INTEGER))
const first = values.seed === undefined
  ? numbered('from', values.from)
  : numbered('seed', values.seed)
const count = values.seed === undefined ? numbered('seeds', values.seeds) : 1
const withinMs = values.within === undefined
  ? Infinity
  : numbered('within', values.within) * 1_000
// Worlds throw a lot, and stack traces are needed only with --trace.
if (!values.trace) Error.stackTraceLimit = 0
const began = performance.now()
let [acknowledged, reads, removals, copies, fired, owners, killedBetween, bad] = [0, 0, 0, 0, 0, 0,
  0, 0]
let seed = first
for (; seed < first + count && performance.now() - began <= withinMs; seed++) {
  const options: SimulationOptions = { seed, without, favourite, items: values.items,
    records: values.records, held: values.held, tracing: values.trace,
    ...values.crons && { crons: true }, ...values.searches && { searches: true } }
  const outcome = await simulate(options)
  acknowledged += outcome.acknowledged
  reads += outcome.reads
  removals += outcome.removals
  copies += outcome.copies
  fired += outcome.fired
  owners += outcome.owners
  killedBetween += outcome.killedBetween
  if (values.trace) console.log(outcome.trace.join('\n'))
  if (outcome.findings.length === 0) continue
  bad++
  console.log(report(outcome))
  if (!values.trace && bad === 1) console.log(await replay(options))
}
const seconds = (performance.now() - began) / 1_000
const done = seed - first
const { user, system } = process.cpuUsage()
console.log(`${done} seeds, ${bad} bad; ${acknowledged} appends acknowledged, ${reads} reads, ` +
  `${removals} removals, ${copies} copies, ${fired} fired, ${owners} owners, ` +
  `${killedBetween} killed between rows of a change; ` +
  `${((user + system) / 1e6).toFixed(1)} s of processor; ` +
  `${(done / seconds).toFixed(1)} seeds a second`)
process.exitCode = bad > 0 ? 1 : 0
