// Names what failed in the reports of test runs, and sums them into one last line:
// summary.mjs <report>…
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { root } from './node24.mjs'

/** Of a message that is long the beginning says what is wrong. */
const messageLines = 3

/**
 * How many tests passed, and a sentence for each that failed; a file that could not even be loaded
 * is one that failed, and so is one whose process died: vitest calls that one passed, and the
 * tests it did not come to pending.
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
  if (status === 'failed' && failed.length === 0) {
    failed.push({ fullName: '(not loaded)', failureMessages: [message] })
  }
  return failed
}

function beginningOf(message = '') {
  return message.split('\n').slice(0, messageLines).map((line) => `\n    ${line}`).join('')
}

let passed = 0
let failed = 0
let missing = false
for (const report of process.argv.slice(2)) {
  try {
    const outcome = outcomeOf(report)
    passed += outcome.passed
    failed += outcome.failures.length
    for (const failure of outcome.failures) console.log(`failed: ${failure}`)
  } catch {
    missing = true
    console.log(`${report} is missing: that run did not come to its end.`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || missing ? 1 : 0
