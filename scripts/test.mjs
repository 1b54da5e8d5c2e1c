// Runs the static checks and the test suite, or another one:
// test.mjs [--long | --studio | --cluster | --nightly | --fuzz] [file…]
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './node24.mjs'

const args = process.argv.slice(2)
const kind = ['long', 'studio', 'cluster', 'nightly', 'fuzz'].find((name) =>
  args.includes(`--${name}`)
)
const files = kind === 'fuzz'
  ? ['test/e2e/fuzz.test.ts']
  : args.filter((arg) => !arg.startsWith('--'))
const report = kind === undefined ? 'test-report.json' : `test-report-${kind}.json`
const long = ['long', 'browser', 'tracing', 'cassandra', 'newest']
const suite = ['suite', 'conformance', 'unit', 'validation']
const projectsOf = { long, studio: ['studio'], cluster: ['cluster'],
  nightly: [...suite, ...long, 'studio', 'cluster'], fuzz: ['suite'] }

/** Runs a program of node_modules. Returns whether it succeeded. */
function run(program, ...programArgs) {
  const node = [join(root, program), ...programArgs]
  return spawnSync(process.execPath, node, { cwd: root, stdio: 'inherit' }).status === 0
}

// Hundreds of processes and workers load the same modules: compiled, that takes two thirds as long.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/heddle-compile')
if (kind === 'nightly') process.env.HEDDLE_NIGHTLY = '1'
if (kind === 'fuzz') process.env.HEDDLE_FUZZ_REQUESTS ??= '100000'

rmSync(join(root, report), { force: true })
const checked = kind !== undefined || files.length > 0 || run('scripts/check.mjs')
const projects = projectsOf[kind] ?? suite
const passed = run('node_modules/vitest/vitest.mjs', 'run', ...files,
  ...projects.map((project) => `--project=${project}`), '--reporter=default', '--reporter=json',
  `--outputFile.json=${report}`)
if (!checked) console.error('The checks failed: see above the tests.')
process.exitCode = checked && passed ? 0 : 1
