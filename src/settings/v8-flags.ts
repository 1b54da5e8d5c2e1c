/**
 * Flags for V8: one that avoids a crash by a bug of its own, set before threads are started, and
 * those by which the code of a busy server is optimised soon.
 */

import { setFlagsFromString } from 'node:v8'

/**
 * WebAssembly calls JavaScript through code that V8 compiles after 1 000 calls and that all threads
 * share. If threads come and go it can be freed twice, which ends the process: "Check failed:
 * jit_page.has_value()" below Runtime_TierUpWasmToJSWrapper (V8 13.6; see also nodejs/node#64500).
 * Node removes the types of a file with WebAssembly, so every thread that loads one is concerned.
 * Measured, with 400 such threads in each process: 6 of 32 processes died if it was compiled after
 * 100 calls, and none of 20 if it never was. In the form of command-line options.
 */
export const v8Flags: readonly string[] = ['--wasm-wrapper-tiering-budget=2147483647']

/**
 * V8 optimises a function after 3 000 calls, and not within 500 calls of the last change in the
 * types that it saw. A run calls most functions, ours and the engine's, only a few times: a server
 * would spend its first thousands of runs in slow code. Measured on two cores, 900 to 7 000 runs
 * later: a run takes 15 % less time. Without any flag here, V8 decides as it does by itself.
 */
const busyFlags = [
  '--invocation-count-for-maglev=20',
  '--invocation-count-for-turbofan=100',
  '--minimum-invocations-after-ic-update=20',
]

/**
 * From now on the code of all threads is optimised after a few calls. Measured: from the start on,
 * a server would take 40 % longer to start, with half as much processor time again. Threads that
 * start later have a compile cache of their own: the first of them takes longer.
 */
export function optimiseSoon(): void {
  for (const flag of busyFlags) setFlagsFromString(flag)
}
