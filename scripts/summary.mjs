// Sums the reports of test runs into one last line: summary.mjs <report>…
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './node24.mjs'

/** Tests that passed and failed; a file that could not even be loaded is one that failed. */
function countsOf(report) {
  const { numPassedTests, numFailedTests, testResults } =
    JSON.parse(readFileSync(join(root, report), 'utf8'))
  const unloaded = testResults.filter(({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'))
  return { passed: numPassedTests, failed: numFailedTests + unloaded.length }
}

let passed = 0
let failed = 0
let missing = false
for (const report of process.argv.slice(2)) {
  try {
    const counts = countsOf(report)
    passed += counts.passed
    failed += counts.failed
  } catch {
    missing = true
    console.log(`${report} is missing: that run did not come to its end.`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || missing ? 1 : 0
