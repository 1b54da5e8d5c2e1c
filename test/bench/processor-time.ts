/** The processor time that processes have taken, which says more than a clock on a busy machine. */

import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of the kernel are hundredths of a second. */
const ticksPerSecond = 100

/** Seconds of a process with all of its children, those that have ended included. Linux only. */
export function processorSeconds(pid: number): number {
  // The name of the program comes second, in brackets, and may have spaces.
  const fields = textOf(`/proc/${pid}/stat`).split(') ').at(-1)!.split(' ')
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  return childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), own)
}

function childrenOf(pid: number): readonly number[] {
  return namesIn(`/proc/${pid}/task`)
    .flatMap((thread) => textOf(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '').map(Number)
}

/** Empty for a process that has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
