/** A fixed piece of work, which tells a slow machine from a slow test. */

import { availableParallelism, loadavg } from 'node:os'

/** Milliseconds that the work takes on a quiet machine of the kind that decides. */
const quietMs = 25

const rounds = 60

/** Programs for each processor that wait or run beside tests on a quiet machine. */
const quietLoad = 1.5

/** How many times longer than on a quiet machine things take here and now; at least 1. */
export interface Slowness {
  /** By the processor time of this thread. */
  readonly cpu: number
  /** By the clock, or by how many programs share the machine: a test may need several at once. */
  readonly wall: number
}

/** Does the work, and compares. */
export function slownessNow(): Slowness {
  const [cpuFrom, from] = [process.threadCpuUsage(), performance.now()]
  work()
  const wallMs = performance.now() - from
  const { user, system } = process.threadCpuUsage(cpuFrom)
  const cpuMs = (user + system) / 1000
  const load = loadavg()[0]! / availableParallelism() / quietLoad
  return { cpu: Math.max(1, cpuMs / quietMs), wall: Math.max(1, wallMs / quietMs, load) }
}

/** Writes and reads JSON, as most tests do. */
function work(): void {
  const list = Array.from({ length: 2_000 }, (_, index) => ({ index, name: `n${index}` }))
  for (let round = 0; round < rounds; round++) JSON.stringify(JSON.parse(JSON.stringify(list)))
}
