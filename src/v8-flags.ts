/** Flags for V8, set before threads are started: they avoid a crash by a bug of its own. */

/**
 * WebAssembly calls JavaScript through code that V8 compiles after 1 000 calls and that all threads
 * share. If threads come and go it can be freed twice, which ends the process: "Check failed:
 * jit_page.has_value()" below Runtime_TierUpWasmToJSWrapper (V8 13.6; see also nodejs/node#64500).
 * Node removes the types of a file with WebAssembly, so every thread that loads one is concerned.
 * Measured, with 400 such threads in each process: 6 of 32 processes died if it was compiled after
 * 100 calls, and none of 20 if it never was.
 */
export const v8Flags: readonly string[] = ['--wasm-wrapper-tiering-budget=2147483647']
