// Runs the checks and the suite, or with --long the long one: test.mjs [--long] [file…]
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './node24.mjs'

const args = process.argv.slice(2)
const long = args.includes('--long')
const files = args.filter((arg) => arg !== '--long')
const report = long ? 'test-report-long.json' : 'test-report.json'

/** Runs a program of node_modules and tells whether it went well. */
function run(program, ...programArgs) {
  const node = [join(root, program), ...programArgs]
  return spawnSync(process.execPath, node, { cwd: root, stdio: 'inherit' }).status === 0
}

rmSync(join(root, report), { force: true })
const checked = long || files.length > 0 || run('scripts/check.mjs')
const projects = long ? ['long', 'cassandra'] : ['suite', 'validation']
const passed = run('node_modules/vitest/vitest.mjs', 'run', ...files,
  ...projects.map((project) => `--project=${project}`),
  '--reporter=default', '--reporter=json', `--outputFile.json=${report}`)
if (!checked) console.error('The checks failed: see above the tests.')
process.exitCode = checked && passed ? 0 : 1
