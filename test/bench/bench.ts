/** The benchmark: the echo graph served, beside the same graph in process, in the same rounds. */

import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startServer } from '../support/server-process.ts'
import { measureGrowth } from './growth.ts'
import type { GrowthFigures, GrowthPlan, Pair } from './growth.ts'
import { InProcess } from './in-process.ts'
import { openLogWeight } from './log-weight.ts'
import { machineText, tableOf } from './report.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'
import type { Target } from './target.ts'
import { firstEvent, runWaitAlone, runsPerSecond } from './throughput.ts'
import type { Rounds } from './throughput.ts'

const { values: options } = parseArgs({ options: {
  /** Any other server of this API that serves test/support/projects/conformance. */
  peer: { type: 'string' },
  /** A smoke test: small numbers, nothing is written down. */
  quick: { type: 'boolean', default: false },
} })

const plan = options.quick
  ? { rounds: 2, alone: 30, together: 200, warmUp: 30, clients: 32,
    growth: { young: 10, old: 80, rounds: 2, samples: 10 } }
  : { rounds: 9, alone: 300, together: 3_000, warmUp: 1_000, clients: 32,
    growth: { young: 20, old: 1_000, rounds: 7, samples: 30 } }

const began = new Date()
const loadAtStart = loadavg()[0]!
const server = await startServer({ project: 'conformance' })
const heddle = new Served('heddle', server.url)
const peer = options.peer === undefined ? undefined : new Served('peer', options.peer)
const inProcess = new InProcess()
try {
  const lines = [...await throughputLines(), ...await growthLines(plan.growth)]
  const report = [
    '# Benchmark', '', machineText(began, loadAtStart), '', tableOf(lines), '', notes()].join('\n')
  console.log(`\n${report}`)
  if (!options.quick) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), `${report}\n`)
} finally {
  heddle.close()
  peer?.close()
  await server.close()
}

async function throughputLines(): Promise<Line[]> {
  const targets: Target[] = [inProcess, heddle, ...peer === undefined ? [] : [peer]]
  const { rounds, alone, together, warmUp, clients } = plan
  progress('warming up')
  for (const target of targets) {
    const runs = target === peer ? 5 : warmUp
    await runsPerSecond([target], { rounds: 1, runs }, 8)
    await runWaitAlone([target], { rounds: 1, runs: runs / 2 })
  }
  progress('runs, one client')
  const single = await runWaitAlone(targets, { rounds, runs: alone })
  progress(`runs, ${clients} clients`)
  const many = await runsPerSecond(targets, { rounds, runs: together }, clients)
  progress('first events')
  const first = await firstEvent(targets, { rounds, runs: alone })
  return targets.slice(1).flatMap(({ name }) => [
    { measure: `${name}: run-wait, 1 client, p50 over in process`, unit: 'times',
      figures: [figure(single, inProcess.name, 'ms'), figure(single, name, 'ms')],
      ratio: spreadOf(ratios(single.get(name)!, single.get(inProcess.name)!)),
      ...name === heddle.name &&
        { aim: { sign: '≤', value: 2 }, floor: { sign: '≤', value: 2.7 } },
    },
    { measure: `${name}: runs per second, ${clients} clients, over in process`, unit: 'times',
      figures: [figure(many, inProcess.name, '/s'), figure(many, name, '/s')],
      ratio: spreadOf(ratios(many.get(name)!, many.get(inProcess.name)!)),
      ...name === heddle.name &&
        { aim: { sign: '≥', value: 0.7 }, floor: { sign: '≥', value: 0.45 } },
    },
    { measure: `${name}: first event, 1 client, p50`, unit: 'ms', figures: [],
      ratio: spreadOf(first.get(name)!),
      ...name === heddle.name && { aim: { sign: '≤', value: 1.5 } },
    },
  ] satisfies Line[])
}

async function growthLines(growth: GrowthPlan): Promise<Line[]> {
  progress(`threads of ${growth.old} turns`)
  const weight = openLogWeight(server.dataDir)
  const figures = await measureGrowth(heddle, () => weight.bytes(), growth)
  weight.close()
  const { young, old } = growth
  const grown = (measure: string, pair: Pair, shown: Pair = pair): Line => ({
    measure: `heddle: ${measure} at turn ${old} over turn ${young}`, unit: 'times',
    figures: [`${median(shown.young).toFixed(2)} ms`, `${median(shown.old).toFixed(2)} ms`],
    ratio: spreadOf(ratios(pair.old, pair.young)), aim: { sign: '≤', value: 1.3 },
  })
  return [
    grown('updates stream', figures.turn),
    grown('history of 10, per byte,', figures.history.perByte, figures.history),
    grown('state, per byte,', figures.state.perByte, figures.state),
    grown('copy, per byte,', figures.copy.perByte, figures.copy),
    bytesLine(figures),
  ]
}

/** The heaviest window over the lightest. */
function bytesLine({ bytesPerTurn }: GrowthFigures): Line {
  const bytes = bytesPerTurn.map((window) => window.bytes)
  const ratio = Math.max(...bytes) / Math.min(...bytes)
  return {
    measure: 'heddle: bytes of the log per turn, largest window over smallest', unit: 'times',
    figures: bytesPerTurn.map((window) =>
      `${Math.round(window.bytes)} (turns ${window.from}–${window.to})`),
    ratio: { median: ratio, low: ratio, high: ratio }, aim: { sign: '≤', value: 1.2 },
  }
}

function figure(rounds: Rounds, name: string, unit: string): string {
  const value = median(rounds.get(name)!)
  return `${name} ${unit === 'ms' ? value.toFixed(2) : Math.round(value)} ${unit}`
}

function notes(): string {
  return [
    'Each line is the median of the rounds, and their range. In a round every side is measured',
    'once, one after the other. In process: the same graph with the official MemorySaver in the',
    'process of the benchmark, which is the client of the served ones too. Every run has a thread',
    'of its own; in the lines about turns a message has 500 characters. First event: from the',
    'request to the `metadata` event, which leaves when the run is on disk. Bytes are those of the',
    'log rows, snapshots included.',
  ].join('\n')
}

function progress(what: string): void {
  console.error(`${((Date.now() - began.getTime()) / 1_000).toFixed(0).padStart(4)} s  ${what}`)
}
