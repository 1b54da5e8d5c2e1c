/** A fixed piece of work, which tells a slow machine from a slow test. */

/** Milliseconds that the work takes on a quiet machine of the kind that decides. */
const quietMs = 25

const rounds = 60

/** How many times longer than on a quiet machine things take here and now; at least 1. */
export interface Slowness {
  /** By the processor time of this thread. */
  readonly cpu: number
  /** By the clock. */
  readonly wall: number
}

/** Does the work, and compares. */
export function slownessNow(): Slowness {
  const [cpuFrom, from] = [process.threadCpuUsage(), performance.now()]
  work()
  const wallMs = performance.now() - from
  const { user, system } = process.threadCpuUsage(cpuFrom)
  const cpuMs = (user + system) / 1000
  return { cpu: Math.max(1, cpuMs / quietMs), wall: Math.max(1, wallMs / quietMs) }
}

/** Writes and reads JSON, as most tests do. */
function work(): void {
  const list = Array.from({ length: 2_000 }, (_, index) => ({ index, name: `n${index}` }))
  for (let round = 0; round < rounds; round++) JSON.stringify(JSON.parse(JSON.stringify(list)))
}
