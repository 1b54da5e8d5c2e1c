/** Memory that a graph worker may fill with JavaScript objects, and memory that a process uses. */

import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

const kib = 1024
const mib = 1024 * 1024
/** MiB for the server itself: states and events in memory, inputs, reads, the store. */
const serverMb = 1024
/** MiB. With less, hardly any project can be loaded. */
const leastMb = 128
/** MiB. More than Node's own limit is only for those who ask for it. */
const mostMb = 4096

/** MiB of the container, or of the machine if the container has no limit. */
export function memoryMb(): number {
  const constrained = process.constrainedMemory()
  return Math.floor(Math.min(constrained > 0 ? constrained : Infinity, totalmem()) / mib)
}

/**
 * MiB for TypeScript's compiler, which reads the types of a project: a quarter of all memory, 256
 * to 1024. A project with LangChain's packages takes some 200.
 */
export function compilerHeapMb(memory: number): number {
  return Math.min(1024, Math.max(256, Math.floor(memory / 4)))
}

/** MiB for each worker: all memory without the server's share, which is a half at most. */
export function defaultHeapMb(memory: number, workers: number): number {
  const ofWorkers = memory - Math.min(serverMb, memory / 2)
  return Math.floor(Math.min(mostMb, Math.max(leastMb, ofWorkers / workers)))
}

/** Bytes that a process has in memory; undefined if it has ended, or if the system does not say. */
export function residentBytes(pid: number | undefined): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found === null ? undefined : Number(found[1]) * kib
  } catch {
    return undefined
  }
}
