/** Progress lines of the benchmark. */

/** Prints what begins, and how long the benchmark has been running. */
export function progress(what: string): void {
  console.error(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${what}`)
}
