/** The entry of a process that reports its permissions as the user that it was started as. */

import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

import type { UserTrial } from './users-fault.ts'

/** The folder that it has to pass, and what it has to read. */
const [passed = '/', ...read] = process.argv.slice(2)
const found: UserTrial = { status: readFileSync('/proc/self/status', 'utf8'),
  barred: [passed, ...read].map(barredAbove).find((path) => path !== null)
    ?? read.find((path) => !may(path, constants.R_OK)) ?? null }
process.send!(found)
// The parent ends this process, to try that as well. It exits if the parent has gone.
process.once('disconnect', () => process.exit())

/** The uppermost folder that it may not pass; null if there is none. */
function barredAbove(path: string): string | null {
  const above = dirname(path)
  const barred = above === path ? null : barredAbove(above)
  if (barred !== null) return barred
  return !statSync(path).isDirectory() || may(path, constants.X_OK) ? null : path
}

function may(path: string, how: number): boolean {
  try {
    accessSync(path, how)
    return true
  } catch {
    return false
  }
}
