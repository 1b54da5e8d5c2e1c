/** Users of the operating system for tests that run code as somebody else. */

import { readFileSync } from 'node:fs'

import type { UserRange } from '../../src/settings/index.ts'

/** A few ids for each process, far above those that machines give to people and programs. */
const each = 10
const lowest = 200_000

/**
 * Ids that no other test process has: a server ends all other processes of its users. Undefined
 * where tests are not root, or run in a container that does not know such ids.
 */
export function usersOfTest(): UserRange | undefined {
  if (process.getuid?.() !== 0) return undefined
  const first = lowest + each * (process.pid % 1_000_000)
  const last = first + each - 1
  const ranges = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const isKnown = ranges.some(([from = 0, , count = 0]) => first >= from && last < from + count)
  return isKnown ? { first, last } : undefined
}
