/** A line for whoever waits for the benchmark. */

/** Says what begins, and how long the benchmark has been at work. */
export function progress(what: string): void {
  console.error(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${what}`)
}
