/** `npm run verify -- --target in-process`: simulated clusters by seed, without any server. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { simulateServing } from '../test/simulation/serving/serving-world.ts'
import type { ServingOutcome } from '../test/simulation/serving/serving-world.ts'
import { ruleNames } from './checker/check.ts'
import type { Violation } from './checker/violation.ts'
import { countPairs } from './pairs.ts'

export interface InProcessOptions {
  /** Seed of the first world. Each further one has the next seed. */
  readonly seed: number
  /** Operations of all worlds together. */
  readonly operations: number
  /** Folder of the histories of worlds in which a rule is broken. */
  readonly folder: string
  /** True if worlds follow after one that breaks a rule. */
  readonly continues: boolean
  report(violations: readonly Violation[]): void
}

/** Operations of one world: enough for several faults, few enough to be repeated. */
const worldOperations = 400

/** Simulates worlds until a rule is broken or no operation is left. Resolves with the exit code. */
export async function verifyInProcess(options: InProcessOptions): Promise<number> {
  const { seed: first, operations, continues, report } = options
  // Worlds throw a lot, and nothing reads the stacks.
  Error.stackTraceLimit = 0
  const seen = new Map<string, number>()
  const started = process.cpuUsage()
  let [calls, done, bad] = [0, 0, 0]
  for (let seed = first; done < operations; seed++) {
    const size = Math.min(worldOperations, operations - done)
    const outcome = await simulateServing({ seed, operations: size })
    const { entries } = outcome.history
    done += size
    calls += entries.filter(({ type }) => type === 'call').length
    for (const [pair, count] of countPairs(entries)) seen.set(pair, (seen.get(pair) ?? 0) + count)
    if (outcome.violations.length === 0) continue
    bad++
    console.log(`World ${seed} breaks: ${outcome.violations[0]!.rule}`)
    const shortest = await shortestPrefix(outcome)
    report(shortest.violations)
    console.log(`Shortest: --target in-process --seed ${seed} ` +
      `--operations ${shortest.options.operations}`)
    console.log(`History: ${await writeHistory(options.folder, shortest)}`)
    if (!continues) break
  }
  const { user, system } = process.cpuUsage(started)
  const seconds = (user + system) / 1e6
  console.log(`Seed ${first}: ${done} operations, ${calls} calls, ${seen.size} pairs, ` +
    `${ruleNames.length} rules, broken in ${bad} worlds; ${seconds.toFixed(0)} s of processor, ` +
    `${(done / seconds).toFixed(0)} operations a second.`)
  return bad > 0 ? 1 : 0
}

/** The shortest beginning of the world that breaks a rule, as far as halving finds it. */
async function shortestPrefix(failed: ServingOutcome): Promise<ServingOutcome> {
  let best = failed
  let passing = 0
  while (best.options.operations - passing > 1) {
    const operations = Math.floor((passing + best.options.operations) / 2)
    const outcome = await simulateServing({ ...failed.options, operations })
    if (outcome.violations.length > 0) best = outcome
    else passing = operations
  }
  return best
}

async function writeHistory(folder: string, { options, history }: ServingOutcome): Promise<string> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `in-process-${options.seed}-${options.operations}.jsonl`)
  await writeFile(file, history.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  return file
}
