// Runs the static checks and the test suite, or another part of the tests:
// test.mjs [--long | --studio | --cluster | --fuzz] [--changed [commit]] [file…]
// With --changed, only the tests nearest to what differs from the commit (HEAD) run, and no checks.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './node24.mjs'
import { reachedTests } from './reached-tests.ts'
import { filesThatWait, projectsOf, suite } from './test-parts.ts'

const help = `Runs the static checks and the test suite, or a part of the tests.

npm test                        everything by day, but for the parts below
npm test -- test/unit/cli …     these files and folders, without the checks
npm test -- --changed [commit]  the tests nearest to what differs from the commit (HEAD)
npm run test:long, test:studio, test:cluster, test:fuzz [-- file…]
npm run test:nightly [-- --again] [-- part…]
docs/testing.md says what each of them has, and how long it takes.`

/** Their tests wait. Those of `npm test` compute, and some measure what they compute. */
const waiting = ['long', 'studio']

const args = process.argv.slice(2)
if (args.includes('--help')) {
  console.log(help)
  process.exit(0)
}
const kind = Object.keys(projectsOf).find((name) => args.includes(`--${name}`))
const isChanged = args.includes('--changed')
const others = args.filter((arg) => !arg.startsWith('--'))
const chosen = kind === 'fuzz' ? ['test/e2e/fuzz.test.ts'] : isChanged ? nearest() : others
const report = kind === undefined ? 'test-report.json' : `test-report-${kind}.json`

/** The tests that a change reaches first. Ends the process if there are none. */
function nearest() {
  const { tests, others: left } = reachedTests(others[0] ?? 'HEAD')
  console.log(`The change reaches ${tests.length + left.length} files of tests; ` +
    (left.length === 0
      ? 'all of them run.'
      : `the nearest ${tests.length} run. npm test has the others.`))
  if (tests.length === 0) process.exit(0)
  return tests
}

/** Runs a program of node_modules. Returns whether it succeeded. */
function run(program, ...programArgs) {
  const node = [join(root, program), ...programArgs]
  return spawnSync(process.execPath, node, { cwd: root, stdio: 'inherit' }).status === 0
}

// Hundreds of processes and workers load the same modules: compiled, that takes two thirds as long.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/heddle-compile')
process.env.HEDDLE_TEST_REPORT = report
if (kind === 'fuzz') process.env.HEDDLE_FUZZ_REQUESTS ??= '100000'

rmSync(join(root, report), { force: true })
const isPart = kind !== undefined || others.length > 0 || isChanged
const checked = isPart || run('scripts/check.mjs')
const passed = run('node_modules/vitest/vitest.mjs', 'run', ...chosen,
  ...(projectsOf[kind] ?? suite).map((project) => `--project=${project}`),
  ...waiting.includes(kind) ? [`--maxWorkers=${filesThatWait}`] : [])
if (!checked) console.error('The checks failed: see above the tests.')
process.exitCode = checked && passed ? 0 : 1
