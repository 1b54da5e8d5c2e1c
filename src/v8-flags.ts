/**
 * Flags for V8, set before threads are started: they avoid a crash by a bug of its own, and let
 * code that a run needs be compiled soon.
 */

/**
 * WebAssembly calls JavaScript through code that V8 compiles after 1 000 calls and that all threads
 * share. If threads come and go it can be freed twice, which ends the process: "Check failed:
 * jit_page.has_value()" below Runtime_TierUpWasmToJSWrapper (V8 13.6; see also nodejs/node#64500).
 * Node removes the types of a file with WebAssembly, so every thread that loads one is concerned.
 * Measured, with 400 such threads in each process: 6 of 32 processes died if it was compiled after
 * 100 calls, and none of 20 if it never was.
 */
const stableWrappers = ['--wasm-wrapper-tiering-budget=2147483647']

/**
 * A run calls most of its functions, ours and the engine's, only a few times. V8 optimises one
 * after 400 calls, fully after 3 000, and not within 500 calls of the last change in the types that
 * it saw: a server spends its first thousands of runs in slow code. Measured on two cores, after
 * 1 500 runs, in slow hours: a run takes 14 to 27 % less time with these, and 32 clients get a
 * third more runs done in a second.
 */
const earlyOptimisation = [
  '--invocation-count-for-maglev=20',
  '--invocation-count-for-turbofan=100',
  '--minimum-invocations-after-ic-update=20',
]

/** In the form of command-line options. */
export const v8Flags: readonly string[] = [...stableWrappers, ...earlyOptimisation]
