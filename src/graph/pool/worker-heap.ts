/** How much memory a graph worker may fill with JavaScript objects. Pure, but for the reading. */

import { totalmem } from 'node:os'

const mib = 1024 * 1024
/** What the server itself may need: states and events in memory, inputs, reads, the store. */
const serverMb = 1024
/** With less, hardly a project can be loaded. */
const leastMb = 128
/** More than Node's own limit, whatever the machine has, is for those who ask for it. */
const mostMb = 4096

/** The memory of the container, or of the machine if there is no such limit. */
export function memoryMb(): number {
  const constrained = process.constrainedMemory()
  return Math.floor(Math.min(constrained > 0 ? constrained : Infinity, totalmem()) / mib)
}

/** All memory less the server's share, which is a half at most, by workers. */
export function defaultHeapMb(memory: number, workers: number): number {
  const ofWorkers = memory - Math.min(serverMb, memory / 2)
  return Math.floor(Math.min(mostMb, Math.max(leastMb, ofWorkers / workers)))
}
