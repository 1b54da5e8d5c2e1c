/** Regular expressions of customers, which match in linear time, so that none holds up a thread. */

import { setFlagsFromString } from 'node:v8'

/** A flag that is an experiment of V8: https://v8.dev/blog/non-backtracking-regexp */
const linear = 'l'

let isEnabled = false

/**
 * Compiles a pattern. Undefined if it is broken, or if only backtracking can match it, as with back
 * references, look-around and large repeats.
 */
export function linearPattern(pattern: string): RegExp | undefined {
  if (!isEnabled) setFlagsFromString('--enable-experimental-regexp-engine')
  isEnabled = true
  try {
    return new RegExp(pattern, linear)
  } catch {
    return undefined
  }
}
