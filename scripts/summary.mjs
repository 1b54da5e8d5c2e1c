// Lists the failures in reports of test runs, and prints the sums in the last line:
// summary.mjs <0, or 1 if one of the runs failed> <report>…
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { root } from './node24.mjs'

/** Lines of a message that are shown: its beginning says what is wrong. */
const messageLines = 3

/**
 * Number of tests that passed, and a text for each failure. A file that failed outside its tests
 * counts as one. So does a file whose process died, which vitest reports as passed, with the tests
 * that were left as pending, or with none at all.
 */
function outcomeOf(report) {
  const { numPassedTests, testResults } = JSON.parse(readFileSync(join(root, report), 'utf8'))
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) =>
    failedOf(status, message, assertionResults).map(({ fullName, failureMessages: [reason] }) =>
      `${relative(root, name)}: ${fullName}${beginningOf(reason)}`
    )
  )
  return { passed: numPassedTests, failures }
}

function failedOf(status, message, tests) {
  const failed = tests.filter((test) => test.status === 'failed')
  const missed = tests.filter((test) => test.status === 'pending')
  if (missed.length > 0) {
    failed.push({ fullName: `(its process died with ${missed.length} tests to go)`,
      failureMessages: [`the first of them: ${missed[0].fullName}`] })
  }
  if (failed.length === 0 && (status === 'failed' || tests.length === 0)) {
    const fullName = tests.length === 0 ? '(not loaded)' : '(beside its tests)'
    failed.push({ fullName, failureMessages: [message || 'see above'] })
  }
  return failed
}

function beginningOf(message = '') {
  return message.split('\n').slice(0, messageLines).map((line) => `\n    ${line}`).join('')
}

let passed = 0
let failed = 0
const [outcome, ...reports] = process.argv.slice(2)
for (const report of reports) {
  try {
    const found = outcomeOf(report)
    passed += found.passed
    failed += found.failures.length
    for (const failure of found.failures) console.log(`failed: ${failure}`)
  } catch {
    failed += 1
    console.log(`failed: ${report} is missing: that run did not come to its end.`)
  }
}
// The reports have neither the static checks nor uncaught errors.
if (outcome !== '0' && failed === 0) {
  failed = 1
  console.log('failed: something outside of all tests; see above')
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
