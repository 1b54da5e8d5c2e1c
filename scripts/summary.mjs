// Names what failed in the reports of test runs, and sums them into one last line:
// summary.mjs <0, or 1 where one of the runs failed> <report>…
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { root } from './node24.mjs'

/** Of a message that is long the beginning says what is wrong. */
const messageLines = 3

/**
 * How many tests passed, and a sentence for each that failed; a file that failed beside its tests
 * is one that failed, and so is one whose process died: vitest calls that one passed, and the
 * tests it did not come to pending, or knows of none.
 */
function outcomeOf(report) {
  const { numPassedTests, testResults } = JSON.parse(readFileSync(join(root, report), 'utf8'))
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) =>
    failedOf(status, message, assertionResults).map(({ fullName, failureMessages: [reason] }) =>
      `${relative(root, name)}: ${fullName}${beginningOf(reason)}`))
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
// No report tells of the checks, nor of an error that nobody caught.
if (outcome !== '0' && failed === 0) {
  failed = 1
  console.log('failed: something outside of all tests; see above')
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
