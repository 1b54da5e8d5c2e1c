/**
 * Puts faults in, one at a time, and tells which test of the day finds each:
 * faults.ts [--everything] [--root <checkout>] [part of a name or path…]
 * Without --everything, those tests run that `npm test -- --changed` chooses. With it, the others
 * that the file reaches follow where these find nothing, and then the conformance tests. Reasons
 * are printed beside the table: a test that fails without the fault as well has found nothing.
 */

import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { faults } from './fault-list.ts'
import type { Fault } from './fault-list.ts'
import { chooseFaults, plantFault } from './planted-fault.ts'
import { testsReachedBy } from './reached-tests.ts'
import { suite } from './test-parts.ts'

/** The nearest files of tests run first, by themselves: most faults need no more. */
const [nearestFiles, nearFiles] = [1, 10]

/** A run that takes longer hangs, which nobody would overlook. */
const runMs = 8 * 60_000

/** A report of vitest. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string;
      readonly failureMessages: readonly string[] }[]
  }[]
}

/** The first test that failed. */
interface Finding {
  readonly file: string
  readonly title: string
  readonly message: string
}

const { values: { root: rootText, everything }, positionals } = parseArgs({
  allowPositionals: true,
  options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') },
    everything: { type: 'boolean', default: false } },
})
const root = resolve(rootText)
const folder = mkdtempSync(join(tmpdir(), 'faults-'))

/** Takes back what was put in last, and ends the tests that run on it. */
let takeBack = () => {}
let endTests = () => {}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    endTests()
    takeBack()
    process.exit(1)
  })
}

/** Runs tests up to the first that fails. */
async function runTests(tests: readonly string[]): Promise<Finding | undefined> {
  if (tests.length === 0) return undefined
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const args = ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`,
    ...suite.map((project) => `--project=${project}`), ...tests]
  // A test that only takes long has found nothing.
  const env = { ...process.env, HEDDLE_TEST_BUDGET: 'off' }
  const vitest = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: root,
    env,
    timeout: runMs,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endTests = () => void vitest.kill()
  let output = ''
  for (const stream of [vitest.stdout, vitest.stderr]) {
    stream.on('data', (bytes: Buffer) => output += bytes.toString())
  }
  const code = await new Promise<number | null>((ended) => vitest.once('exit', ended))
  if (code === 0) return undefined
  return failureIn(report) ??
    { file: '', title: vitest.killed ? 'hangs' : 'an unhandled error',
      message: output.slice(-2_000) }
}

/** The first failure of a report; undefined if it has none. */
function failureIn(report: string): Finding | undefined {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
    for (const { name, status, message, assertionResults } of testResults) {
      const file = relative(root, name)
      const failed = assertionResults.find((each) => each.status === 'failed')
      if (failed) return { file, title: failed.title, message: failed.failureMessages.join('\n') }
      if (status === 'failed') return { file, title: 'cannot be loaded', message }
    }
  } catch {
    // It ended before it wrote a report.
  }
  return undefined
}

/** Files of tests in the order in which they are asked. */
function portionsFor({ file }: Fault): readonly (readonly string[])[] {
  const { tests, others } = testsReachedBy([file], root)
  const nearest = [tests.slice(0, nearestFiles), tests.slice(nearestFiles, nearFiles),
    tests.slice(nearFiles)]
  if (!everything) return nearest
  const known = new Set([...tests, ...others])
  const conformance = globSync('test/conformance/**/*.test.ts', { cwd: root })
  return [...nearest, others, conformance.filter((path) => !known.has(path))]
}

/** Puts a fault in and takes it back. Returns its row of the table. */
async function rowOf(fault: Fault): Promise<string> {
  const beganMs = performance.now()
  takeBack = plantFault(root, fault)
  let found: Finding | undefined
  try {
    for (const portion of portionsFor(fault)) found ??= await runTests(portion)
  } finally {
    takeBack()
    takeBack = () => {}
  }
  const seconds = Math.round((performance.now() - beganMs) / 1_000)
  if (found !== undefined) console.error(`${fault.name}:\n${found.message.slice(0, 600)}\n`)
  const by = found === undefined ? 'nothing' : `${found.file}: ${found.title}`
  return `| ${fault.name} | ${fault.file} | ${by} | ${seconds} |`
}

const chosen = chooseFaults(faults, positionals)
console.log('| fault | file | found by | seconds |\n|---|---|---|---|')
for (const fault of chosen) console.log(await rowOf(fault))
rmSync(folder, { recursive: true })
