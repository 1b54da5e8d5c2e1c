/** What deployments take on one server: deploys, rollbacks, runs, and requests around a switch. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

import { serverProgram } from '../../scripts/server-program.ts'
import { linkPackages } from '../support/linked-packages.ts'
import { startServer } from '../support/server-process.ts'
import { benchGraphHosts } from './graph-hosts.ts'
import { processorSeconds } from './processor-time.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { median, quantile, ratios, spreadOf, worstOf } from './statistics.ts'
import { turn } from './target.ts'

const plans = {
  full: { deploys: 5, rollbacks: 30, rounds: 7, alone: 200, together: 1_000, switches: 5 },
  quick: { deploys: 1, rollbacks: 3, rounds: 1, alone: 20, together: 60, switches: 1 },
}
type Plan = typeof plans.full

/** Requests each second around a switch: two cores have room beside them. */
const perSecond = 50
const clients = 32
/** Before a switch, and after it. */
const windowMs = 5_000

/** Measures the starter on one server, and graph hosts alone. */
export async function benchDeployments({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const hosts = await benchGraphHosts({ quick })
  const root = mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  try {
    const lines = await deployedLines(root, quick ? plans.quick : plans.full)
    return { title: 'Deployments on one server', lines: [...hosts.lines, ...lines], notes,
      file: 'RESULTS-deployments.md' }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function deployedLines(root: string, plan: Plan): Promise<Line[]> {
  const shop = join(root, 'shop')
  await heddle(root, {}, 'new', shop)
  writeFileSync(join(shop, 'package-lock.json'), '{}')
  await linkPackages(shop, shop)
  const server = await startServer({ project: shop, args: ['--no-reload'],
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } })
  const served = new Served('heddle', server.url)
  const inShop = async (...args: string[]): Promise<Ran> => {
    // The command is a child of this process, and so is the server.
    const before = processorSeconds(process.pid) - process.cpuUsage().user / 1e6
    const ran = await heddle(shop, { HEDDLE_DATA_DIR: server.dataDir,
      npm_lifecycle_event: 'heddle' }, ...args)
    const after = processorSeconds(process.pid) - process.cpuUsage().user / 1e6
    return { ...ran, cpuS: after - before }
  }
  try {
    return [...await deployLines(shop, inShop, plan), ...await rollbackLines(served, inShop, plan),
      ...await runLines(served, plan), ...await switchLines(served, plan)]
  } finally {
    served.close()
    await server.close()
  }
}

interface Ran {
  readonly ms: number
  /** Seconds of processor time, of the command and the server with all of their processes. */
  readonly cpuS: number
  readonly stdout: string
}

type Run = (...args: string[]) => Promise<Ran>

/** The first one uploads all packages; then each one changes a file. */
async function deployLines(shop: string, run: Run, { deploys }: Plan): Promise<Line[]> {
  progress('deploys')
  const first = await run('deploy', '--json')
  const changes = await inOrder(deploys, async (index) => {
    writeFileSync(join(shop, 'src/change.ts'), `export const change = ${index}\n`)
    const { stdout, ...took } = await run('deploy', '--json')
    const sent = /"sent_bytes":(\d+)/.exec(stdout)
    return { ...took, bytes: Number(sent?.[1] ?? NaN) }
  })
  return [
    { measure: 'deploy of the starter, the first', unit: 's', figures: [cpuText([first])],
      ratio: spreadOf([first.ms / 1_000]), aim: { sign: '≤', value: 5 },
      floor: { sign: '≤', value: 10 } },
    { measure: 'deploy after a change of code', unit: 's', figures: [cpuText(changes)],
      ratio: spreadOf(changes.map(({ ms }) => ms / 1_000)), aim: { sign: '≤', value: 2.5 },
      floor: { sign: '≤', value: 4 } },
    { measure: 'sent by a deploy after a change of code', unit: 'bytes', figures: [],
      ratio: worstOf(changes.map(({ bytes }) => bytes)), aim: { sign: '≤', value: 20_000 } },
  ]
}

function cpuText(ran: readonly Pick<Ran, 'cpuS'>[]): string {
  return `processor time ${median(ran.map(({ cpuS }) => cpuS)).toFixed(1)} s`
}

const control = '/control/v1/deployments/shop'
const rollBack = (served: Served) => served.ask('POST', `${control}/rollback`, {})

/** Each goes back to where the one before came from, so both revisions stay loaded. */
async function rollbackLines(served: Served, run: Run, { rollbacks }: Plan): Promise<Line[]> {
  progress('rollbacks')
  const calls = await inOrder(rollbacks, async () => await rollBack(served))
  const commands = await inOrder(5, async () => await run('rollback'))
  const pointer = calls.map(({ body }) => (body as { pointer_ms: number }).pointer_ms)
  const seconds = calls.map(({ ms }) => ms / 1_000)
  const { low, high } = spreadOf(seconds)
  return [
    { measure: `rollback, warm: p99 of ${rollbacks} calls`, unit: 's',
      figures: [`p50 ${median(seconds).toFixed(3)} s`,
        `pointer to confirmation p50 ${median(pointer).toFixed(0)} ms`],
      ratio: { median: quantile(seconds, 0.99), low, high }, aim: { sign: '≤', value: 0.5 },
      floor: { sign: '≤', value: 2 } },
    { measure: 'rollback, warm: the command with its own start', unit: 's', figures: [],
      ratio: spreadOf(commands.map(({ ms }) => ms / 1_000)) },
  ]
}

const run = { assistant_id: 'agent', input: turn('weather in Paris?') }
const sides = ['', '/d/shop'] as const

/** The same project in threads of the server, and deployed. */
async function runLines(served: Served, { rounds, alone, together }: Plan): Promise<Line[]> {
  const waitMs: Record<string, number[]> = { '': [], '/d/shop': [] }
  const rates: Record<string, number[]> = { '': [], '/d/shop': [] }
  for (let round = 0; round <= rounds; round++) {
    progress(`runs, round ${round} of ${rounds}`)
    for (const side of sides) {
      const took = await inOrder(alone, async () => (await oneRun(served, side)).ms)
      const rate = await manyRuns(served, side, together)
      // The first one warms up.
      if (round === 0) continue
      waitMs[side]!.push(median(took))
      rates[side]!.push(rate)
    }
  }
  const [threads, process] = sides
  return [
    { measure: 'run-wait, 1 client, p50, deployed over in threads', unit: 'times',
      figures: sides.map((side) => `${median(waitMs[side]!).toFixed(2)} ms`),
      ratio: spreadOf(ratios(waitMs[process]!, waitMs[threads]!)), aim: { sign: '≤', value: 1.15 },
      floor: { sign: '≤', value: 1.3 } },
    { measure: `runs per second, ${clients} clients, deployed over in threads`, unit: 'times',
      figures: sides.map((side) => `${median(rates[side]!).toFixed(0)} /s`),
      ratio: spreadOf(ratios(rates[process]!, rates[threads]!)), aim: { sign: '≥', value: 0.85 },
      floor: { sign: '≥', value: 0.7 } },
  ]
}

function oneRun(served: Served, side: string) {
  return served.ask('POST', `${side}/runs/wait`, run)
}

async function manyRuns(served: Served, side: string, count: number): Promise<number> {
  let left = count
  const began = performance.now()
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) await oneRun(served, side)
  }))
  return count / (performance.now() - began) * 1_000
}

/** Runs come at a steady pace; a switch is in the middle. */
async function switchLines(served: Served, { switches }: Plan): Promise<Line[]> {
  let failed = 0
  const found = await inOrder(switches, async (index) => {
    progress(`switch ${index + 1} of ${switches}`)
    const [before, after] = [[] as number[], [] as number[]]
    const sent: Promise<void>[] = []
    const began = performance.now()
    let switched: Promise<unknown> | undefined
    for (let count = 0; count < 2 * windowMs / 1_000 * perSecond; count++) {
      const dueMs = count * 1_000 / perSecond
      await pause(Math.max(0, began + dueMs - performance.now()))
      if (dueMs >= windowMs) switched ??= rollBack(served)
      const into = dueMs < windowMs ? before : after
      sent.push(oneRun(served, '/d/shop').then(({ ms }) => void into.push(ms), () => {
        failed++
      }))
    }
    await Promise.all([...sent, switched])
    return { before: quantile(before, 0.99), after: quantile(after, 0.99) }
  })
  const [before, after] = [found.map((one) => one.before), found.map((one) => one.after)]
  return [
    { measure: `runs at ${perSecond}/s: p99 in the 5 s after a switch over before`, unit: 'times',
      figures: [before, after].map((each) => `${median(each).toFixed(1)} ms`),
      ratio: spreadOf(ratios(after, before)), aim: { sign: '≤', value: 2 },
      floor: { sign: '≤', value: 4 } },
    { measure: 'of them failed', unit: 'requests', figures: [], ratio: worstOf([failed]),
      aim: { sign: '≤', value: 0 } },
  ]
}

async function inOrder<Result>(count: number,
  work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let index = 0; index < count; index++) results.push(await work(index))
  return results
}

/** Runs the command line. Throws if it fails. */
async function heddle(folder: string, variables: Readonly<Record<string, string>>,
  ...args: readonly string[]): Promise<Omit<Ran, 'cpuS'>> {
  const began = performance.now()
  const child = spawn(process.execPath, [serverProgram, ...args], { cwd: folder,
    env: { ...process.env, INIT_CWD: folder, ...variables } })
  const ended = new Promise<number | null>((resolveEnd) => child.on('close', resolveEnd))
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr),
    ended])
  if (status !== 0) throw new Error(`heddle ${args.join(' ')} ended with ${status}: ${stderr}`)
  return { ms: performance.now() - began, stdout }
}

const notes = `Graph hosts alone, without a store and a front door, come first: there the share of
the process is largest; a run has two supersteps. Then the starter, which one server has in threads
and deployed. Deploys are the whole command, the start of Node included, with packages that are
installed; their processor time is that of the command and of the server with its processes. In a
round both sides are measured once, one after the other; each figure is the median of the rounds. A
rollback goes to the revision that was active before, which is loaded.`
