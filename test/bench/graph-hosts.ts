/** What it costs that graphs are in a process of their own: a graph process beside threads. */

import { fileURLToPath } from 'node:url'

import { systemEnv } from '../../cluster/index.ts'
import { compileProject, readProject, startGraphHost,
  startGraphProcess } from '../../src/graph/index.ts'
import type { ExecutionOutcome, GraphHost } from '../../src/graph/index.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { median, ratios, spreadOf } from './statistics.ts'
import { turn } from './target.ts'

interface HostPlan {
  readonly rounds: number
  readonly waits: number
  readonly runs: number
}

interface Side {
  readonly waitMs: number[]
  readonly perSecond: number[]
}

const folder = fileURLToPath(new URL('../support/projects/conformance/', import.meta.url))
const house = fileURLToPath(new URL('../../', import.meta.url))
const workers = 2
const clients = 32

/** Measures hosts alone, without a store and a front door: their share is the largest here. */
export async function benchGraphHosts({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const plan = quick
    ? { rounds: 2, waits: 100, runs: 500 }
    : { rounds: 9, waits: 500, runs: 3_000 }
  return {
    title: 'Graph hosts',
    lines: await hostLines(plan),
    notes: `${plan.rounds} rounds. A run has two supersteps and is not stored.`,
    file: '',
  }
}

async function hostLines({ rounds, waits, runs }: HostPlan): Promise<Line[]> {
  const env = systemEnv({ level: 'warn' })
  const project = await compileProject(await readProject(folder))
  const threads = await startGraphHost({ env, project, workers, heapMb: 512 })
  const process = await startGraphProcess({ env, configFile: `${folder}/langgraph.json`,
    folder: house, workers, variables: {}, memoryMb: 2_048, allowsAddons: false })
  const sides = [threads, process].map((host) => ({ host, waitMs: [], perSecond: [] })) as (Side & {
    readonly host: GraphHost
  })[]
  try {
    for (const { host } of sides) await manyRuns(host, runs)
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}`)
      for (const { host, waitMs, perSecond } of sides) {
        waitMs.push(await medianWait(host, waits))
        perSecond.push(await manyRuns(host, runs))
      }
    }
  } finally {
    await threads.close()
    await process.close()
  }
  const [one, other] = [sides[0]!, sides[1]!]
  return [
    { measure: 'a run, 1 client, p50, process over threads', unit: 'times',
      figures: [one, other].map(({ waitMs }) => `${median(waitMs).toFixed(2)} ms`),
      ratio: spreadOf(ratios(other.waitMs, one.waitMs)), aim: { sign: '≤', value: 1.15 },
      floor: { sign: '≤', value: 1.3 } },
    { measure: 'added to a run, 1 client, p50', unit: 'ms', figures: [],
      ratio: spreadOf(other.waitMs.map((ms, round) => ms - one.waitMs[round]!)) },
    { measure: `runs per second, ${clients} clients, process over threads`, unit: 'times',
      figures: [one, other].map(({ perSecond }) => `${median(perSecond).toFixed(0)} /s`),
      ratio: spreadOf(ratios(other.perSecond, one.perSecond)), aim: { sign: '≥', value: 0.85 },
      floor: { sign: '≥', value: 0.7 } },
  ]
}

async function medianWait(host: GraphHost, count: number): Promise<number> {
  const took: number[] = []
  for (let each = 0; each < count; each++) {
    const began = performance.now()
    await oneRun(host)
    took.push(performance.now() - began)
  }
  return median(took)
}

/** Runs per second. */
async function manyRuns(host: GraphHost, count: number): Promise<number> {
  let left = count
  const began = performance.now()
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) await oneRun(host)
  }))
  return count / (performance.now() - began) * 1_000
}

let last = 0

function oneRun(host: GraphHost): Promise<ExecutionOutcome> {
  const id = ++last
  const { promise, resolve, reject } = Promise.withResolvers<ExecutionOutcome>()
  const source = { tuple: async () => undefined, list: async () => [] }
  host.execute({ id, tenant: 'bench', threadId: `t${id}`, graphId: 'echo', runId: `r${id}`,
    attempt: 1, headId: null,
    request: { kind: 'run', input: JSON.stringify(turn('hello')), command: null, asked: null,
      config: '{}', context: null, streamModes: ['values'], streamSubgraphs: false,
      interruptBefore: null, interruptAfter: null, durability: 'async', checkpoint: null,
      emitted: [] } }, source, {
    steps: async () => {},
    ended: resolve,
    lost: (reason) => reject(new Error(`the execution was lost: ${reason}`)),
  })
  return promise
}
