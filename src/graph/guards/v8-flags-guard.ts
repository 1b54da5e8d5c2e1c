/**
 * Loaded in each thread of a graph process: rejects flags of V8, because some of them give code
 * access to the guards.
 */

import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'

import { accessDenied, replaceForGood } from './refusal.ts'

/** Harmless flags: Heddle sets most of them, and packages the last. */
const allowed = ['--wasm-wrapper-tiering-budget=2147483647', '--invocation-count-for-maglev=20',
  '--invocation-count-for-turbofan=100', '--minimum-invocations-after-ic-update=20',
  '--enable-experimental-regexp-engine', '--expose-gc', '--expose_gc', '--no-expose-gc']

const { setFlagsFromString } = v8

replaceForGood(v8, 'setFlagsFromString', (flag: unknown) => {
  for (let at = 0; at < allowed.length; at++) {
    if (flag === allowed[at]) return setFlagsFromString(allowed[at]!)
  }
  throw accessDenied('A deployment cannot set flags of V8, except for `--expose-gc`.')
})
syncBuiltinESMExports()
