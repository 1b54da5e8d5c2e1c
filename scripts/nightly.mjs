// Runs all tests, as often as a night allows, in parts one after another:
// nightly.mjs [--again] [part…]
// A part that has passed on the same files is not run again, unless --again says so.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { root } from './node24.mjs'
import { nightlyParts } from './test-parts.ts'

/** About three times what a part may take on a quiet machine. */
const limitMs = 30 * 60_000

// As in test.mjs: without it, each process and worker compiles what it loads.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/heddle-compile')

/** What has passed: for each part a file with the tree that it passed on. */
const memory = join(root, 'node_modules/.cache/heddle-nightly')

/** Pages that no part but the first two reads. */
const pages = [':(exclude)docs', ':(exclude)*.md', ':(exclude)test/bench/RESULTS*']

const args = process.argv.slice(2)
const isAgain = args.includes('--again')
const named = args.filter((arg) => !arg.startsWith('--'))

/** A hash of all files as they are now, whether committed or not. */
function treeOf(paths) {
  const index = join(tmpdir(), `heddle-nightly-${process.pid}`)
  const git = (...gitArgs) =>
    spawnSync('git', gitArgs, { cwd: root, encoding: 'utf8',
      env: { ...process.env, GIT_INDEX_FILE: index } }).stdout.trim()
  git('add', '--all', '--', '.', ...paths)
  const tree = git('write-tree')
  rmSync(index, { force: true })
  return tree
}

function remembered(name) {
  try {
    return JSON.parse(readFileSync(join(memory, `${name}.json`), 'utf8'))
  } catch {
    return undefined
  }
}

/** Counts of the report that a run has left; none if it came to no end. */
function countsIn(report) {
  try {
    const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(
      readFileSync(join(root, report), 'utf8'),
    )
    return { passed, failed }
  } catch {
    return { passed: 0, failed: 0 }
  }
}

function run({ name, projects, paths = [], filesAtOnce = 2, cassandraNodes = 1 }, tree, seed) {
  const report = `test-report-night-${name}.json`
  rmSync(join(root, report), { force: true })
  const began = performance.now()
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'),
    'run', ...paths, `--maxWorkers=${filesAtOnce}`,
    ...projects.map((project) => `--project=${project}`)], { cwd: root, stdio: 'inherit',
    timeout: limitMs, killSignal: 'SIGKILL',
    env: { ...process.env, HEDDLE_NIGHTLY: '1', HEDDLE_SEARCH_SEED: String(seed),
      HEDDLE_TEST_REPORT: report, HEDDLE_TEST_CASSANDRA_NODES: String(cassandraNodes) } })
  const outcome = { ...countsIn(report), ended: status === 0, tree,
    minutes: (performance.now() - began) / 60_000 }
  if (outcome.ended) writeFileSync(join(memory, `${name}.json`), JSON.stringify(outcome))
  return outcome
}

/** A line of the table. */
function lineOf({ name, outcome, isOld }) {
  const { passed, failed, minutes, ended } = outcome
  const fate = isOld ? 'passed before, on the same files' : ended ? 'passed' : 'FAILED'
  return `${name.padEnd(24)}${String(passed).padStart(8)}${String(failed).padStart(8)}` +
    `${minutes.toFixed(1).padStart(9)}  ${fate}`
}

mkdirSync(memory, { recursive: true })
const unknown = named.filter((each) => !nightlyParts.some(({ name }) => name === each))
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. The parts are ` +
    `${nightlyParts.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
const chosen = nightlyParts.filter(({ name }) => named.length === 0 || named.includes(name))
const [all, withoutPages] = [treeOf([]), treeOf(pages)]
const seed = Number(process.env.HEDDLE_SEARCH_SEED ?? Date.now() % 2 ** 31)
console.log(`The seed of this night's searches is ${seed} (HEDDLE_SEARCH_SEED repeats it).`)

const outcomes = []
for (const part of chosen) {
  const tree = ['units', 'suite'].includes(part.name) ? all : withoutPages
  const before = remembered(part.name)
  const isOld = !isAgain && before?.tree === tree
  if (!isOld) console.log(`\nThe part ${part.name} begins.`)
  outcomes.push({ name: part.name, isOld, outcome: isOld ? before : run(part, tree, seed) })
}
const minutes = outcomes.reduce((sum, { outcome }) => sum + outcome.minutes, 0)
console.log(`\n${'part'.padEnd(24)}  passed  failed  minutes`)
console.log(outcomes.map(lineOf).join('\n'))
console.log(`${'together'.padEnd(40)}${minutes.toFixed(1).padStart(9)}`)
process.exitCode = outcomes.every(({ outcome }) => outcome.ended) ? 0 : 1
